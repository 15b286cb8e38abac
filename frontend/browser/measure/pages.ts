import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openPage, startBrowser } from "../harness";
import { type World, startWorld } from "../world";
import { note, rounds } from "./table";

let world: World;
let browser: Browser;

interface Paint {
  fcp: number;
  lcp: number;
  shift: number;
  task: number;
  bytes: number;
}

/** Measures one load of a page, in a context of its own so that nothing is cached. */
async function load(path: string, slowDown: number): Promise<Paint> {
  const page = await openPage(browser, world.server, { cookie: world.cookie, reducedMotion: "no-preference" });
  const session = await page.context().newCDPSession(page);
  if (slowDown > 1) await session.send("Emulation.setCPUThrottlingRate", { rate: slowDown });
  await page.addInitScript(() => {
    const seen = { lcp: 0, shift: 0, task: 0 };
    Object.assign(window, { seen });
    const watch = (type: string, take: (entry: PerformanceEntry & { value?: number }) => void) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
    watch("largest-contentful-paint", (entry) => (seen.lcp = entry.startTime));
    watch("layout-shift", (entry) => (seen.shift += entry.value ?? 0));
    watch("longtask", (entry) => (seen.task = Math.max(seen.task, entry.duration)));
  });
  await page.goto(path);
  if (path === "") await page.getByText("Recently added").waitFor();
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  // Late entries count too.
  await page.waitForTimeout(500 * slowDown);
  const paint = await page.evaluate(() => {
    const { seen } = window as unknown as { seen: { lcp: number; shift: number; task: number } };
    const fcp = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    const entries = [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")] as PerformanceResourceTiming[];
    return { ...seen, fcp, bytes: entries.reduce((sum, entry) => sum + entry.transferSize, 0) };
  });
  await page.context().close();
  return paint;
}

describe("pages", () => {
  beforeAll(async () => {
    [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
    await world.add("Sluice.Clip.2026.720p", world.clip, "movies");
    await world.untilHistory(1);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  it.each([1, 4])("measures the load of Home at CPU ÷ %i", { timeout: 240_000 }, async (slowDown) => {
    const blank: Paint[] = [];
    const home: Paint[] = [];
    for (let round = 0; round < rounds; round++) {
      blank.push(await load("data:text/html,<p>blank", slowDown));
      home.push(await load("", slowDown));
    }
    const at = slowDown === 1 ? "" : `, CPU ÷ ${slowDown}`;
    note(`first paint of a page that says "blank"${at}`, blank.map(({ fcp }) => fcp), "ms");
    note(`first paint of Home${at}`, home.map(({ fcp }) => fcp), "ms", { goal: "6", most: slowDown === 1 ? 150 : 500 });
    if (slowDown > 1) return;
    note("largest paint", home.map(({ lcp }) => lcp), "ms", { goal: "7", most: 400 });
    note("shift of the layout", home.map(({ shift }) => shift), "", { goal: "7", most: 0.02 });
    note("longest task", home.map(({ task }) => task), "ms", { goal: "7", most: 150 });
    note("bytes of Home, cold", home.map(({ bytes }) => bytes / 1_000), "KB", { goal: "5", most: 200 });
  });
});

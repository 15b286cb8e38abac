import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openPage, startBrowser } from "../harness";
import { type World, call, startWorld } from "../world";
import { note, rounds } from "./table";

const films = 12;

let world: World;
let browser: Browser;

interface Paint {
  fcp: number;
  /** The largest paint without pictures. */
  lcp: number;
  /** The largest picture. */
  pictured: number;
  shift: number;
  task: number;
  bytes: number;
  pictures: number;
  pictureBytes: number;
}

/** Measures one load of a page, in a context of its own so that nothing is cached. */
async function load(where: string, slowDown: number): Promise<Paint> {
  const page = await openPage(browser, world.server, { cookie: world.cookie, reducedMotion: "no-preference" });
  const paint = await loadIn(page.context(), where, slowDown);
  await page.context().close();
  return paint;
}

/** Measures one load of a page in a new tab. */
async function loadIn(context: BrowserContext, where: string, slowDown: number): Promise<Paint> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  if (slowDown > 1) await session.send("Emulation.setCPUThrottlingRate", { rate: slowDown });
  await page.addInitScript(() => {
    const seen = { lcp: 0, pictured: 0, shift: 0, task: 0 };
    Object.assign(window, { seen });
    const watch = (type: string, take: (entry: PerformanceEntry & { value?: number; url?: string }) => void) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
    // Pictures come after the page, on purpose.
    watch("largest-contentful-paint", (entry) => (seen[entry.url?.includes("/api/pictures/") ? "pictured" : "lcp"] = entry.startTime));
    watch("layout-shift", (entry) => (seen.shift += entry.value ?? 0));
    watch("longtask", (entry) => (seen.task = Math.max(seen.task, entry.duration)));
  });
  await page.goto(where);
  // Late entries count too. Playwright evaluates nothing meanwhile, because it would inject its script of 330 KB into the load.
  await page.waitForTimeout(1_500 * slowDown);
  if (where === "") await page.getByText("Recently added").waitFor();
  const paint = await page.evaluate(() => {
    const { seen } = window as unknown as { seen: { lcp: number; pictured: number; shift: number; task: number } };
    const fcp = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    const entries = [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")] as PerformanceResourceTiming[];
    const pictures = entries.filter((entry) => entry.name.includes("/api/pictures/"));
    const sum = (some: PerformanceResourceTiming[]) => some.reduce((bytes, entry) => bytes + entry.transferSize, 0);
    return { ...seen, fcp, bytes: sum(entries) - sum(pictures), pictures: pictures.length, pictureBytes: sum(pictures) };
  });
  await page.close();
  return paint;
}

/** Gives every film a still that is nearly as large as allowed, as a player would. */
async function addStills(): Promise<void> {
  const { recent } = await call<{ recent: { filmId: string | null }[] }>(world.server, world.cookie, "GET", "home");
  const page = await openPage(browser, world.server, { cookie: world.cookie });
  await page.goto("");
  await page.evaluate(async (ids) => {
    for (const id of ids) {
      const canvas = Object.assign(document.createElement("canvas"), { width: 480, height: 270 });
      const context = canvas.getContext("2d");
      const noise = new ImageData(480, 270);
      noise.data.forEach((_, at) => (noise.data[at] = at % 4 === 3 ? 255 : 96 + ((at * 7) % 64) + Math.random() * 32));
      context?.putImageData(noise, 0, 0);
      let still: Blob | null = null;
      for (let quality = 0.9; still === null || still.size > 20_000; quality -= 0.05) {
        still = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/webp", quality));
      }
      const answer = await fetch(`api/files/${id}/still`, { method: "PUT", headers: { "X-Csrf": "1", "Content-Type": "image/webp" }, body: still });
      if (!answer.ok) throw new Error(`still of ${id}: ${answer.status}`);
    }
  }, recent.flatMap(({ filmId }) => filmId ?? []));
  await page.context().close();
}

describe("pages", () => {
  beforeAll(async () => {
    [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
    for (let film = 1; film <= films; film++) await world.add(`Film.Number.${film}.2026.1080p.WEB.h264-GRP`, await world.nzb(film), "movies");
    await world.untilHistory(films);
    await addStills();
    await world.server.restart({
      meanwhile: async (data) => void (await promisify(execFile)("python3", [path.join(import.meta.dirname, "fill-days.py"), path.join(data, "sluice.db")])),
    });
    // Waits for the database check that follows a start.
    await new Promise((done) => setTimeout(done, 8_000));
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
    note("largest picture", home.map(({ pictured }) => pictured), "ms");
    note("shift of the layout", home.map(({ shift }) => shift), "", { goal: "7", most: 0.02 });
    note("longest task", home.map(({ task }) => task), "ms", { goal: "7", most: 150 });
    note("bytes of Home, cold", home.map(({ bytes }) => bytes / 1_000), "KB", { goal: "5", most: 200 });
    note("pictures of Home", home.map(({ pictures }) => pictures), "", { goal: "5", most: films });
    note("bytes of the pictures, cold", home.map(({ pictureBytes }) => pictureBytes / 1_000), "KB", { goal: "5", most: 240 });

    const { context, warm } = { context: (await openPage(browser, world.server, { cookie: world.cookie })).context(), warm: [] as Paint[] };
    for (let round = 0; round <= rounds; round++) warm.push(await loadIn(context, "", 1));
    await context.close();
    warm.shift();
    note("bytes of Home, warm", warm.map(({ bytes }) => bytes / 1_000), "KB", { goal: "5", most: 5 });
    note("bytes of the pictures, warm", warm.map(({ pictureBytes }) => pictureBytes / 1_000), "KB", { goal: "5", most: 0 });
  });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, it } from "vitest";
import { openPage, startBrowser } from "./harness";
import { type World, call, clipId, deadNzb, playSlowly, startWorld } from "./world";

/** Figures of the goals of speed, beside a blank page, as a table: `npm run measure`. */
const rounds = 15;
const rows: string[][] = [];

let world: World;
let browser: Browser;

beforeAll(async () => {
  [browser, world] = await Promise.all([startBrowser("--autoplay-policy=no-user-gesture-required"), startWorld(["Main"])]);
  await world.add("Sluice.Clip.2026.720p", world.clip, "movies");
  await world.untilHistory(1);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await world?.stop();
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  process.stdout.write(`\n${rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")).join("\n")}\n`);
});

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function note(what: string, values: readonly number[], unit: string): void {
  const digits = unit === "" ? 3 : 0;
  rows.push([what, `median ${quantile(values, 0.5).toFixed(digits)} ${unit}`, `p95 ${quantile(values, 0.95).toFixed(digits)} ${unit}`]);
}

interface Paint {
  fcp: number;
  lcp: number;
  shift: number;
  task: number;
  bytes: number;
}

/** What a load of a page cost, in a context of its own: nothing is cached. */
async function load(path: string, slowDown: number): Promise<Paint> {
  const page = await openPage(browser, world.server, { cookie: world.cookie });
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
  if (path === "") await page.getByRole("heading", { name: "Providers" }).waitFor();
  const paint = await page.evaluate(() => {
    const { seen } = window as unknown as { seen: { lcp: number; shift: number; task: number } };
    const fcp = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    const entries = [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")] as PerformanceResourceTiming[];
    return { ...seen, fcp, bytes: entries.reduce((sum, entry) => sum + entry.transferSize, 0) };
  });
  await page.context().close();
  return paint;
}

async function loads(path: string, slowDown: number): Promise<Paint[]> {
  const all: Paint[] = [];
  for (let round = 0; round < rounds; round++) all.push(await load(path, slowDown));
  return all;
}

it("measures how the overview comes", { timeout: 400_000 }, async () => {
  for (const slowDown of [1, 4]) {
    const name = slowDown === 1 ? "" : ` at CPU ÷ ${slowDown}`;
    note(`first paint of a page that says "blank"${name}`, (await loads("data:text/html,<p>blank", slowDown)).map(({ fcp }) => fcp), "ms");
    const overview = await loads("", slowDown);
    note(`first paint of the overview${name}`, overview.map(({ fcp }) => fcp), "ms");
    note(`largest paint${name}`, overview.map(({ lcp }) => lcp), "ms");
    note(`longest task${name}`, overview.map(({ task }) => task), "ms");
    if (slowDown > 1) continue;
    note("shift of the layout", overview.map(({ shift }) => shift), "");
    note("bytes, cold", overview.map(({ bytes }) => bytes / 1_000), "KB");
  }
});

it("measures how long a first picture and a jump take", { timeout: 400_000 }, async () => {
  const first: number[] = [];
  const jumps: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("files/movies/Sluice.Clip.2026.720p");
    await page.getByRole("button", { name: "Play clip.mp4" }).waitFor();
    // The parts of the preview come with its first use; warm they are there.
    await page.getByRole("button", { name: "Play clip.mp4" }).click();
    await page.getByText("Picture and sound are decoded.").waitFor();
    await page.keyboard.press("Escape");
    first.push(await timeOf(page, async () => page.getByRole("button", { name: "Play clip.mp4" }).click(), "playing"));
    jumps.push(await timeOf(page, () => page.locator("video").evaluate((video: HTMLVideoElement) => void (video.currentTime = 1 + Math.random() * 9)), "seeked"));
    await page.context().close();
  }
  note("press of Play to the first picture, warm", first, "ms");
  note("a jump to its picture", jumps, "ms");
});

it("measures what a tab costs while three films play, and how soon a change is seen", { timeout: 200_000 }, async () => {
  const watchedMs = 30_000;
  const release = await world.nzb(7, { size: 200 });
  await world.add("Film.2026", release, "movies");
  await world.untilHistory(2);
  const { items } = await call<{ items: { id: string; name: string }[] }>(world.server, world.cookie, "GET", "files?path=movies/Film.2026");
  const stops = await Promise.all(["VLC/3.0", "Kodi/21.0", "Infuse/8.1"].map((player) => playSlowly(world, items[0]?.id ?? clipId, player, 1_000_000)));
  const page = await openPage(browser, world.server, { cookie: world.cookie });
  await page.goto("");
  await page.getByText("VLC 3.0").waitFor();
  const session = await browser.newBrowserCDPSession();
  const used = async () => {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    return processInfo.filter(({ type }) => type === "renderer").reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
  const before = await used();
  await page.waitForTimeout(watchedMs);
  note("CPU of the tab, three films playing", [((await used()) - before) / (watchedMs / 100_000)], "%");
  stops.forEach((stop) => stop());

  await call(world.server, world.cookie, "POST", "queue/pause", {});
  await page.goto("queue");
  await page.getByRole("heading", { name: "Queue" }).first().waitFor();
  const waits: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const name = `Seen.${round}.2026`;
    const seen = page.evaluate(
      (text) =>
        new Promise<number>((done) => {
          const look = () => (document.body.textContent.includes(text) ? done(Date.now()) : requestAnimationFrame(look));
          look();
        }),
      name,
    );
    await world.add(name, deadNzb, "movies");
    const answered = Date.now();
    waits.push(Math.max(0, (await seen) - answered));
  }
  note("answer to an add until its row is there", waits, "ms");
  await page.context().close();
});

/** Milliseconds from an act to an event of the video. */
async function timeOf(page: Page, act: () => Promise<unknown>, event: "playing" | "seeked"): Promise<number> {
  await page.evaluate((name) => {
    Object.assign(window, { happened: new Promise<number>((done) => document.addEventListener(name, () => done(performance.now()), { capture: true, once: true })) });
  }, event);
  const began = await page.evaluate(() => performance.now());
  await act();
  const at = await page.evaluate(() => (window as unknown as { happened: Promise<number> }).happened);
  return at - began;
}

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openPage, startBrowser } from "../harness";
import { type World, call, playSlowly, startWorld } from "../world";
import { note, rounds } from "./table";

const watchedMs = 30_000;

let world: World;
let browser: Browser;

describe("playing", () => {
  beforeAll(async () => {
    [browser, world] = await Promise.all([startBrowser("--autoplay-policy=no-user-gesture-required"), startWorld(["Main"])]);
    await world.add("Sluice.Clip.2026.720p", world.clip, "movies");
    await world.untilHistory(1);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  it("measures the time to the first picture and of a seek", { timeout: 240_000 }, async () => {
    const first: number[] = [];
    const jumps: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const page = await openPage(browser, world.server, { cookie: world.cookie });
      await page.goto("files/movies/Sluice.Clip.2026.720p");
      await page.getByRole("button", { name: "Play clip.mp4" }).waitFor();
      // The first preview loads its parts, so the second one starts warm.
      await page.getByRole("button", { name: "Play clip.mp4" }).click();
      await page.getByText("Video and audio OK.").waitFor();
      await page.keyboard.press("Escape");
      first.push(await timeOf(page, async () => page.getByRole("button", { name: "Play clip.mp4" }).click(), "playing"));
      jumps.push(await timeOf(page, () => page.locator("video").evaluate((video: HTMLVideoElement) => void (video.currentTime = 1 + Math.random() * 9)), "seeked"));
      await page.context().close();
    }
    note("press of Play to the first picture, warm", first, "ms", { goal: "3", most: 600 });
    note("the same", first, "ms", { goal: "3", of: "p95", most: 1_500 });
    note("a jump to its picture", jumps, "ms", { goal: "3", of: "p95", most: 1_000 });
  });

  it("measures the CPU of a tab while three films play", { timeout: 120_000 }, async () => {
    await world.add("Film.2026", await world.nzb(7, { size: 200 }), "movies");
    await world.untilHistory(2);
    const { items } = await call<{ items: { id: string }[] }>(world.server, world.cookie, "GET", "files?path=movies/Film.2026");
    const stops = await Promise.all(["VLC/3.0", "Kodi/21.0", "Infuse/8.1"].map((player) => playSlowly(world, items[0]?.id ?? "", player, 1_000_000)));
    const page = await openPage(browser, world.server, { cookie: world.cookie, reducedMotion: "no-preference" });
    await page.goto("");
    await page.getByText("VLC 3.0").waitFor();
    const session = await browser.newBrowserCDPSession();
    const used = async () => {
      const { processInfo } = await session.send("SystemInfo.getProcessInfo");
      return processInfo.filter(({ type }) => type === "renderer").reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    };
    // The start of the page is not part of this figure.
    await page.waitForTimeout(3_000);
    const before = await used();
    await page.waitForTimeout(watchedMs);
    note("CPU of the tab, three films playing", [((await used()) - before) / (watchedMs / 100_000)], "%", { goal: "11", most: 3 });
    stops.forEach((stop) => stop());
    await page.context().close();
  });
});

/** Returns the milliseconds from an act to an event of the video. */
async function timeOf(page: Page, act: () => Promise<unknown>, event: "playing" | "seeked"): Promise<number> {
  await page.evaluate((name) => {
    Object.assign(window, { happened: new Promise<number>((done) => document.addEventListener(name, () => done(performance.now()), { capture: true, once: true })) });
  }, event);
  const began = await page.evaluate(() => performance.now());
  await act();
  const at = await page.evaluate(() => (window as unknown as { happened: Promise<number> }).happened);
  return at - began;
}

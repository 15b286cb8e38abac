import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { formatPosition } from "../src/lib/format";
import { brokenRules, overflowAt, settle, smallTargets } from "./checks";
import { openPage as open, startBrowser, windows } from "./harness";
import { type World, call, deadNzb, onServer, startWorld, until } from "./world";

const first = "Tide.Pool.S01E01.720p.WEB.h264-GRP";
const second = "Tide.Pool.S01E02.720p.WEB.h264-GRP";

let world: World;
let browser: Browser;
let ids: string[];

beforeAll(async () => {
  [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
  for (const [at, name] of [first, second].entries()) {
    // An NZB that is in the library already is not imported again.
    await world.add(name, world.clip.replace('poster="', `poster="${at}`), "tv");
    await world.untilHistory(at + 1);
  }
  ids = await Promise.all([first, second].map(filmOf));
}, 120_000);

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

async function filmOf(release: string): Promise<string> {
  const { items } = await call<{ items: { id: string }[] }>(world.server, world.cookie, "GET", `files?path=tv/${release}`);
  return items[0]?.id ?? "";
}

const openPage = (options: Parameters<typeof open>[2] = {}) => open(browser, world.server, { cookie: world.cookie, ...options });

/** Opens a film and waits until it plays. */
async function play(page: Page, name: string): Promise<{ dialog: Locator; video: Locator }> {
  await page.goto(`files/tv/${name === "S01 E01" ? first : second}?play=${name === "S01 E01" ? ids[0] : ids[1]}`);
  const dialog = page.getByRole("dialog", { name: `Tide Pool · ${name}` });
  const video = dialog.locator("video");
  await video.waitFor();
  await page.waitForFunction(() => (document.querySelector("video")?.readyState ?? 0) >= 3);
  return { dialog, video };
}

/** Puts the film at a place and pauses it there; a film that has ended cannot be paused. */
const pauseAt = (video: Locator, seconds: number) =>
  video.evaluate(async (element: HTMLVideoElement, to) => {
    await element.play();
    const isThere = new Promise((done) => element.addEventListener("seeked", done, { once: true }));
    element.currentTime = to;
    await isThere;
    element.pause();
  }, seconds);

const stored = async () => (await call<{ positionMs: number | null }>(world.server, world.cookie, "GET", `files/${ids[0]}`)).positionMs;

describe("the player", () => {
  it("is as wide as the window, with its figures behind Details, and breaks no rule", async () => {
    for (const [window, margin] of [["desktop", 80], ["phone", 0]] as const) {
      const page = await openPage(windows[window]);
      const { dialog, video } = await play(page, "S01 E02");
      await settle(page);
      expect((await video.boundingBox())?.width).toBeGreaterThanOrEqual(windows[window].viewport.width - margin);
      expect(await dialog.getByText("Start-up time").isVisible()).toBe(false);
      await dialog.getByText("Details", { exact: true }).click();
      await dialog.getByText("Start-up time").waitFor();
      expect(await brokenRules(page)).toEqual([]);
      expect(await smallTargets(page, window === "phone" ? 44 : 24)).toEqual([]);
      expect(await overflowAt(page)).toEqual([0, 0, 0, 0]);
      expect(page.errors).toEqual([]);
    }
  });

  it("resumes on another device where the film was paused or left, and starts over on request", async () => {
    const page = await openPage();
    const { video } = await play(page, "S01 E01");
    const saved = page.waitForResponse((response) => response.url().endsWith("/position"));
    await pauseAt(video, 6);
    expect((await saved).status()).toBe(204);
    await until("the position is stored", async () => (await stored()) !== null);
    // A busy browser plays on for a while before it pauses.
    const at = (await stored()) ?? 0;
    expect(at).toBeGreaterThanOrEqual(6_000);

    const other = await openPage();
    const again = await play(other, "S01 E01");
    await again.dialog.getByText(`Resumed at ${formatPosition(at)}`).waitFor();
    expect(await again.video.evaluate((element: HTMLVideoElement) => element.currentTime)).toBeGreaterThanOrEqual(at / 1_000);
    // Leaving saves too, and the page does not wait for it.
    await pauseAt(again.video, 7);
    await again.video.evaluate((element: HTMLVideoElement) => void (element.currentTime = 8));
    await other.goto("about:blank");
    await until("the position of a page that was left is stored", async () => (await stored()) === 8_000);

    const third = await openPage();
    const over = await play(third, "S01 E01");
    await pauseAt(over.video, 9);
    await over.dialog.getByRole("button", { name: "Start over" }).click();
    expect(await over.video.evaluate((element: HTMLVideoElement) => element.currentTime)).toBe(0);
    await over.dialog.getByText(/^Resumed/).waitFor({ state: "detached" });
    // The page saves the beginning when it is left. That request may outlive the page, so the next test could lose the position that it stores.
    await third.goto("about:blank");
    await until("a film that was started over has no position", async () => (await stored()) === null);
  });

  it("shows the progress at Home and in Files", async () => {
    await call(world.server, world.cookie, "PUT", `files/${ids[0]}/position`, { positionMs: 6_000, durationMs: 12_000 });
    const page = await openPage();
    await page.goto("");
    await page.getByRole("link", { name: "Resume Tide Pool, S01 E01 · 720p WEB" }).waitFor();
    await page.goto("files/tv");
    await page.getByText("50% watched").waitFor();
  });

  it("offers the next episode as a button and near the end, without a request to a provider", async () => {
    const page = await openPage();
    const { dialog, video } = await play(page, "S01 E01");
    await dialog.getByRole("button", { name: "Next episode: S01 E02" }).waitFor();
    await pauseAt(video, 11.4);
    await dialog.getByRole("button", { name: "Play next" }).click();
    const next = page.getByRole("dialog", { name: "Tide Pool · S01 E02" });
    await next.locator("video").waitFor();
    expect(await next.getByRole("button", { name: /^Next episode/ }).count()).toBe(0);
  });
});

describe("a playlist", () => {
  it("is copied from a folder, and plays without a login", async () => {
    const page = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto("files/tv");
    await page.getByRole("button", { name: "Playlist" }).click();
    await page.getByRole("menuitem", { name: "Copy playlist link" }).click();
    await page.getByText("Playlist link copied").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const lines = (await (await fetch(onServer(world.server, link))).text()).split("\n");
    expect(lines.filter((line) => line.startsWith("#EXTINF")).map((line) => line.split(",")[1])).toEqual(["Tide Pool S01E02", "Tide Pool S01E01"]);
    const film = await fetch(onServer(world.server, lines.find((line) => line.startsWith("http")) ?? ""), { headers: { Range: "bytes=0-9" } });
    expect([film.status, (await film.arrayBuffer()).byteLength]).toEqual([206, 10]);
    expect((await fetch(onServer(world.server, link.replace("/tv.m3u", "/movies.m3u")))).status).toBe(401);
  });
});

describe("a failed import", () => {
  it("is a number at History until it has been dealt with", async () => {
    await world.add("Gone.Film.1999", deadNzb, "movies");
    await world.untilHistory(3);
    const page = await openPage();
    await page.goto("files");
    const rail = page.getByRole("navigation", { name: "Pages" }).first();
    await rail.getByRole("link", { name: "History 1 failed import" }).waitFor();
    await world.add("Gone.Film.2000", deadNzb, "movies");
    await rail.getByRole("link", { name: "History 2 failed imports" }).waitFor();
    await page.goto("");
    // A post that is known to be gone fails for a reason of its own.
    for (let left = 2; left > 0; left -= 1) await page.getByRole("button", { name: "Seen" }).first().click();
    await rail.getByRole("link", { name: "History", exact: true }).waitFor();
  });
});

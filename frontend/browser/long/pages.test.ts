import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, overflowAt, settle, smallTargets } from "../checks";
import { type RunningServer, openPage, setUp, startBrowser, startServer, windows } from "../harness";
import { type World, call, deadNzb, playSlowly, startWorld, until } from "../world";

const patienceMs = 20_000;
const release = "Big.Buck.Bunny.2008.1080p";

let browser: Browser;
let empty: RunningServer;
let emptyCookie: string;
let world: World;
let stopPlaying: () => void;
let pages: string[];

beforeAll(async () => {
  [browser, empty, world] = await Promise.all([startBrowser(), startServer(), startWorld(["Main", "Second"])]);
  emptyCookie = await setUp(empty);
  await world.add(release, await world.nzb(1, { size: 400 }), "movies");
  await world.add("Gone.Film.1999.720p", deadNzb, "movies");
  await world.untilHistory(2);
  const { items } = await call<{ items: { id: string }[] }>(world.server, world.cookie, "GET", `files?path=movies/${release}`);
  const file = items[0]?.id ?? "";
  stopPlaying = await playSlowly(world, file, "VLC/3.0.20 LibVLC/3.0.20", 400_000);
  const history = await call<{ items: { id: string; name: string }[] }>(world.server, world.cookie, "GET", "history");
  await call(world.server, world.cookie, "POST", "queue/pause", {});
  await world.add("Waiting.Show.S02E01.1080p", await world.nzb(2), "tv");
  let streams: { items: { id: string }[] } = { items: [] };
  await until("something plays", async () => (streams = await call(world.server, world.cookie, "GET", "streams")).items.length > 0);
  pages = [
    "", "files", `files/movies/${release}`, `files/movies/${release}?file=${file}`, `files/movies/${release}?play=${file}`, "queue",
    `history`, ...history.items.map(({ id }) => `history/${id}`), `streams/${streams.items[0]?.id}`, "streams/receipts", "logs", ...settings, ...setup,
  ];
}, 120_000);

afterAll(async () => {
  stopPlaying?.();
  await browser?.close();
  await Promise.all([empty?.stop(), world?.stop()]);
});

const settings = ["", "/providers", "/streaming", "/library", "/download-client", "/arr", "/backups", "/system", "/account"].map((group) => `settings${group}`);
const setup = ["provider", "try", "apps"].map((step) => `setup?step=${step}`);

describe("all pages", () => {
  it("are accessible and have large targets, empty and full, in both themes, on desktops and phones", async () => {
    const servers = [
      { server: empty, cookie: emptyCookie, at: ["", "files", "files/movies", "queue", "history", "streams/receipts", "streams/none", "streams/none/more", "logs", ...settings, ...setup] },
      { server: world.server, cookie: world.cookie, at: pages },
    ];
    for (const { server, cookie, at } of servers) {
      for (const window of ["desktop", "phone"] as const) {
        for (const colorScheme of ["light", "dark"] as const) {
          const page = await openPage(browser, server, { cookie, colorScheme, ...windows[window] });
          page.setDefaultTimeout(patienceMs);
          for (const where of at) {
            await page.goto(where);
            await settle(page);
            expect([where, window, colorScheme, ...(await brokenRules(page))]).toEqual([where, window, colorScheme]);
            expect([where, window, ...(await smallTargets(page, window === "phone" ? 44 : 24))]).toEqual([where, window]);
          }
          await page.context().close();
        }
      }
    }
  });

  it.each(["plain", "pseudo", "pseudo-rtl"])("fit the window with %s texts", async (locale) => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    page.setDefaultTimeout(patienceMs);
    await page.goto(`?locale=${locale}`);
    // Settle first, because the script of the page stores the locale that the address names.
    await settle(page);
    for (const where of pages) {
      await page.goto(where);
      await settle(page);
      expect([where, await page.evaluate(() => document.documentElement.dir)]).toEqual([where, locale === "pseudo-rtl" ? "rtl" : "ltr"]);
      expect([where, ...(await overflowAt(page))]).toEqual([where, 0, 0, 0, 0]);
      if (locale === "pseudo-rtl") expect([where, ...(await brokenRules(page))]).toEqual([where]);
      await page.setViewportSize(windows.desktop.viewport);
    }
    await page.context().close();
  });
}, 600_000);

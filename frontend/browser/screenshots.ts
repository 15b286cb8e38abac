import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, it } from "vitest";
import { settle } from "./checks";
import { type RunningServer, openPage, setUp, setupCode, startBrowser, startServer, windows } from "./harness";
import { type World, call, clipId, deadNzb, playSlowly, startWorld, until } from "./world";

/** Folder for pictures of every page with real content, for visual review: `npm run screenshots`. */
const folder = path.resolve(import.meta.dirname, "../../artifacts/screenshots");
const images = path.resolve(import.meta.dirname, "../../docs/images");
/** Pictures of the README, with the height that they are cut to. They are taken on a desktop in light colors. */
const readme: Record<string, number> = { home: 1_200, stream: 1_050, "history-failed": 900 };
const sizes = { desktop: { viewport: { width: 1_440, height: 900 } }, phone: windows.phone };
const looks = (["desktop", "phone"] as const).flatMap((window) => (["light", "dark"] as const).map((scheme) => ({ window, scheme })))
  .filter(({ window, scheme }) => (process.env.SLUICE_LOOK ?? `${window}-${scheme}`) === `${window}-${scheme}`);

const films = [
  ["Big.Buck.Bunny.2008.1080p.BluRay.x264", "movies"], ["Sintel.2010.2160p.WEB.HEVC", "movies"], ["Tears.of.Steel.2012.1080p.WEB.H264", "movies"],
  ["Cosmos.Laundromat.2015.1080p.WEB.H264", "movies"], ["Spring.2019.2160p.WEB.HEVC", "movies"], ["The.Open.Show.S01E01.1080p.WEB.H264", "tv"],
  ["The.Open.Show.S01E02.1080p.WEB.H264", "tv"], ["The.Open.Show.S01E03.1080p.WEB.H264", "tv"],
] as const;

interface Shot {
  name: string;
  at: string | (() => Promise<string>);
  /** Waits until the page shows the subject of the picture. */
  ready?: (page: Page) => Promise<unknown>;
  /** Requests that the server fails to answer. */
  fails?: string;
}

let browser: Browser;
let empty: RunningServer;
let emptyCookie: string;
let fresh: RunningServer;
let world: World;

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  [browser, empty, fresh, world] = await Promise.all([
    startBrowser("--autoplay-policy=no-user-gesture-required"), startServer(), startServer(), startWorld(["Main", "Second", "Block account"]),
  ]);
  emptyCookie = await setUp(empty);
  for (const [index, [name, category]] of films.entries()) await world.add(name, await world.nzb(index + 1, { size: 300 + 20 * index }), category);
  await world.add("Sluice.Clip.2026.720p", world.clip, "movies");
  await world.add("Packed.Film.2024.1080p.WEB.H264", await world.nzb(20, { size: 60, layout: "rar5" }), "movies");
  await world.add("Locked.Film.2023.1080p", (await world.nzb(21, { size: 40, layout: "rar5-hdrenc" })).replace(/<meta type="password">[^<]*<\/meta>/, ""), "movies");
  await world.add("Gone.Film.1999.720p", deadNzb, "movies");
  await world.add("Broken.Film.2001.720p", "this is no NZB", "movies").catch(() => undefined);
  await world.untilHistory(13);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await Promise.all([empty?.stop(), fresh?.stop(), world?.stop()]);
});

async function take(server: RunningServer, cookie: string | undefined, shots: readonly Shot[]): Promise<void> {
  for (const { window, scheme } of looks) {
    const localStorage = server === world.server ? [{ name: "sluice.first-steps", value: "done" }] : [];
    const storageState = { cookies: [], origins: [{ origin: new URL(server.url).origin, localStorage }] };
    const first = await openPage(browser, server, { colorScheme: scheme, storageState, ...sizes[window], ...(cookie ? { cookie } : {}) });
    for (const { name, at, ready, fails } of shots) {
      // Each picture has its own page, because a dialog left open would cover the next one.
      const page = await first.context().newPage();
      page.setDefaultTimeout(20_000);
      if (fails) await page.route(fails, (route) => route.fulfill({ status: 503, contentType: "application/problem+json", json: failure }));
      await page.goto(new URL(typeof at === "string" ? at : await at(), `${server.url}/`).href);
      await settle(page);
      await ready?.(page);
      await page.evaluate(() => document.fonts.ready);
      // The window grows to the page, so that the navigation reaches its end. A dialog covers the window, which keeps its size.
      const { width, height } = sizes[window].viewport;
      if ((await page.getByRole("dialog").count()) === 0) {
        await page.setViewportSize({ width, height: Math.max(height, await page.evaluate(() => document.documentElement.scrollHeight)) });
        await settle(page);
      }
      const png = await page.screenshot({ path: path.join(folder, `${name}-${window}-${scheme}.png`), animations: "disabled" });
      const most = window === "desktop" && scheme === "light" ? readme[name] : undefined;
      if (most !== undefined) await writeFile(path.join(images, `${name.split("-")[0]}.webp`), await toWebP(png, most));
      await page.close();
    }
    await first.context().close();
  }
}

/** Converts a picture, cut to a height. */
async function toWebP(png: Buffer, height: number): Promise<Buffer> {
  const page = await browser.newPage();
  const base64 = await page.evaluate(
    async ({ source, most }) => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob());
      const canvas = new OffscreenCanvas(image.width, Math.min(image.height, most));
      canvas.getContext("2d")?.drawImage(image, 0, 0);
      const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.85 })).arrayBuffer());
      return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    },
    { source: png.toString("base64"), most: height },
  );
  await page.close();
  return Buffer.from(base64, "base64");
}

const failure = { type: "unavailable", title: "The database can't be read right now.", status: 503 };
const groups = ["", "/providers", "/streaming", "/library", "/download-client", "/arr", "/backups", "/system", "/account"];
const shown = (text: string | RegExp) => (page: Page) => page.getByText(text).locator("visible=true").first().waitFor();

it("takes pictures of the setup and the login", { timeout: 300_000 }, async () => {
  await take(fresh, undefined, [{ name: "setup-1-account", at: `setup#${setupCode}` }]);
  await take(empty, emptyCookie, [
    { name: "setup-2-provider", at: "setup?step=provider", ready: shown("Server") },
    { name: "setup-3-try", at: "setup?step=try", ready: shown("Or try the built-in clip") },
    {
      name: "setup-4-apps", at: "setup?step=apps", ready: async (page) => {
        for (const app of ["Sonarr", "rclone", "VLC"]) await page.locator("summary", { hasText: app }).first().click();
        await page.getByText("Or set it up manually").first().click();
      },
    },
  ]);
  await take(empty, undefined, [{ name: "login", at: "login", ready: (page) => page.getByText("Forgot it?").click() }]);
});

it("takes pictures of an empty server", { timeout: 300_000 }, async () => {
  await take(empty, emptyCookie, [
    { name: "empty-home", at: "", ready: shown("First steps") },
    { name: "empty-files", at: "files/movies" },
    { name: "empty-files-root", at: "files" },
    { name: "empty-files-removed", at: "files?view=removed" },
    { name: "empty-receipts", at: "streams/receipts", ready: shown("No receipts yet") },
    { name: "empty-settings-providers", at: "settings/providers" },
    { name: "empty-settings-backups", at: "settings/backups" },
    { name: "empty-rescue", at: "rescue" },
    { name: "empty-queue", at: "queue" },
    { name: "empty-history", at: "history" },
    { name: "empty-stream", at: "streams/none" },
    { name: "not-found", at: "streams/none/more" },
  ]);
});

it("takes pictures of pages whose data can't be loaded", { timeout: 300_000 }, async () => {
  await take(empty, emptyCookie, [
    { name: "failing-home", at: "", fails: "**/api/home*" },
    { name: "failing-files", at: "files/movies", fails: "**/api/files?*" },
    { name: "failing-files-removed", at: "files?view=removed", fails: "**/api/quarantine*" },
    { name: "failing-queue", at: "queue", fails: "**/api/queue?*" },
    { name: "failing-history", at: "history", fails: "**/api/history?*" },
    { name: "failing-history-item", at: "history/none", ready: (page: Page) => page.getByRole("dialog").waitFor() },
    { name: "failing-receipts", at: "streams/receipts", fails: "**/api/receipts?*" },
    { name: "failing-logs", at: "logs", fails: "**/api/logs*" },
    { name: "failing-settings", at: "settings/streaming", fails: "**/api/settings*" },
    { name: "failing-settings-providers", at: "settings/providers", fails: "**/api/providers" },
    { name: "failing-settings-backups", at: "settings/backups", fails: "**/api/backups*" },
  ].map((shot) => ({ ready: shown(failure.title), ...shot })));
});

it("takes pictures of a server with content", { timeout: 900_000 }, async () => {
  const { server, cookie } = world;
  const { items } = await call<{ items: { id: string; name: string; path: string; bytes: number; kind: string }[] }>(server, cookie, "GET", "files?q=mkv&limit=50");
  const large = items.filter((item) => item.kind === "file").sort((one, other) => other.bytes - one.bytes);
  const clip = (await call<{ items: typeof items }>(server, cookie, "GET", "files?q=mp4&limit=5")).items.find((item) => item.id !== clipId);
  const history = await call<{ items: { id: string; name: string }[] }>(server, cookie, "GET", "history?limit=50");
  const job = (name: string) => history.items.find((item) => item.name.startsWith(name))?.id ?? name;
  const folderOf = (at: string) => at.split("/").slice(0, -1).map(encodeURIComponent).join("/");

  // These play from here on, so that Home shows playbacks.
  const players = [["Sintel", "VLC/3.0.20 LibVLC/3.0.20"], ["Cosmos", "Infuse-Direct/8.1.4"], ["The.Open.Show.S01E02", "Kodi/21.0"]] as const;
  const idOf = (name: string) => large.find((item) => item.path.includes(name))?.id ?? "";
  const stops = await Promise.all(players.map(([name, player], index) => playSlowly(world, idOf(name), player, (3 - index) * 500_000)));
  const isPlaying = async (page: Page) => {
    await page.locator("main a[href*='/streams/']:not([href$='/receipts'])").nth(2).waitFor();
    await page.getByText("Starting", { exact: true }).first().waitFor({ state: "detached", timeout: 90_000 });
    // The reading of the clip above counts as a scan for a minute.
    await page.getByText(/^Library scan/).first().waitFor({ state: "detached", timeout: 90_000 });
  };
  await take(server, cookie, [{ name: "home", at: "", ready: isPlaying }, { name: "home-chart", at: "?window=hour", ready: isPlaying }]);
  const streams = await call<{ items: { id: string }[] }>(server, cookie, "GET", "streams");
  await take(server, cookie, [{ name: "stream", at: `streams/${streams.items[0]?.id}`, ready: shown("Buffer map") }]);
  stops.forEach((stop) => stop());

  await take(server, cookie, [
    { name: "files-root", at: "files" },
    { name: "files-category", at: "files/movies" },
    { name: "files-release", at: `files/${folderOf(large[0]?.path ?? "")}` },
    { name: "files-search", at: "files?q=open+show" },
    { name: "files-file", at: `files/${folderOf(clip?.path ?? "")}?file=${clip?.id}`, ready: shown("WebDAV address") },
    { name: "files-preview", at: `files/${folderOf(clip?.path ?? "")}?play=${clip?.id}`, ready: shown("Details") },
    { name: "history", at: "history" },
    { name: "history-failed", at: `history/${job("Gone")}`, ready: shown("What to do") },
    { name: "history-other-tries", at: `history/${job("Gone")}`, ready: async (page) => {
      await page.getByRole("button", { name: "More ways to retry" }).click();
      await page.getByRole("menuitem").first().waitFor();
    } },
    { name: "history-locked", at: `history/${job("Locked")}`, ready: shown("What to do") },
    { name: "history-completed", at: `history/${job("Packed")}` },
    { name: "logs", at: "logs" },
    { name: "search-dialog", at: "", ready: async (page) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type("open");
      await page.getByRole("option").nth(3).waitFor();
    } },
    ...groups.map((group) => ({ name: `settings${group.replace("/", "-")}`, at: `settings${group}` })),
    { name: "settings-search", at: "settings?q=cache" },
    { name: "settings-changed", at: "settings/streaming", ready: async (page: Page) => {
      await page.getByRole("spinbutton", { name: "Read-ahead" }).fill("64");
      await page.getByRole("button", { name: "Review and save" }).waitFor();
    } },
    { name: "shortcuts", at: "files", ready: async (page) => {
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    } },
  ]);

  await call(server, cookie, "DELETE", "files", { paths: ["movies/Spring.2019.2160p.WEB.HEVC"] });
  await take(server, cookie, [
    { name: "files-removed", at: "files?view=removed", ready: shown(/Spring/) },
    { name: "files-delete", at: "files/tv", ready: async (page) => {
      await page.getByRole("button", { name: /^Actions for The.Open.Show/ }).first().click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByRole("dialog").getByText("You can restore everything").waitFor();
    } },
  ]);

  await call(server, cookie, "POST", "providers", { host: "127.0.0.1", port: 9, tls: false, user: "", password: "", name: "Down", maxConnections: 8, use: "primary", priority: 0 });
  await world.add("Half.Gone.2020.1080p", await world.nzb(40), "tv");
  await take(server, cookie, [{ name: "home-needs", at: "", ready: shown("Needs you") }]);

  await call(server, cookie, "POST", "queue/pause", {});
  for (let at = 0; at < 9; at++) await world.add(`Waiting.Show.S02E0${at + 1}.1080p.WEB.H264`, await world.nzb(50 + at, { size: 700 }), at % 3 === 0 ? "movies" : "tv");
  await take(server, cookie, [
    { name: "queue-paused", at: "queue", ready: (page) => page.locator("[data-row]").nth(5).waitFor() },
    { name: "queue-ticked", at: "queue", ready: async (page) => {
      await page.locator("[data-row] input[type=checkbox]").nth(1).check();
      await page.locator("[data-row] input[type=checkbox]").nth(2).check();
    } },
  ]);
  await fetch(`http://${world.mock.control}/set?latency=15000`, { method: "POST" });
  await call(server, cookie, "POST", "queue/resume", {});
  // Queried for each picture, because the import of the picture before may have failed by then.
  const running = async () => {
    const { items } = await call<{ items: { id: string }[] }>(server, cookie, "GET", "queue?state=running&limit=1");
    return `queue?item=${items[0]?.id}`;
  };
  await take(server, cookie, [
    { name: "queue-running", at: "queue", ready: (page) => page.locator("[data-row]").first().waitFor() },
    { name: "queue-item", at: running, ready: shown("Import steps") },
  ]);

  await fetch(`http://${world.mock.control}/set?latency=20`, { method: "POST" });
  await addCaps();
  await call(server, cookie, "POST", "backups");
  await until("a backup is made", async () => (await call<{ items: object[] }>(server, cookie, "GET", "backups")).items.length > 0);
  // A server that stops saves all receipts.
  await server.restart();
  await take(server, cookie, [
    { name: "receipts", at: "streams/receipts", ready: (page) => page.locator("[data-row]").first().waitFor() },
    { name: "receipts-sheet", at: "streams/receipts", ready: async (page) => {
      await page.locator("[data-row]").first().click();
      await page.getByRole("dialog").getByText(/^From /).first().waitFor();
    } },
    { name: "caps", at: "settings/providers", ready: shown("Only fills gaps") },
    { name: "caps-edit", at: "settings/providers", ready: async (page) => {
      await page.getByRole("button", { name: "Edit Filling" }).click();
      await page.getByLabel("Reset day").waitFor();
    } },
    { name: "backups", at: "settings/backups", ready: shown("Restore") },
    { name: "backups-restore", at: "settings/backups", ready: async (page) => {
      await page.getByRole("button", { name: /^Restore/ }).first().click();
      await page.getByRole("dialog").waitFor();
      await page.getByText("Checking the backup").waitFor({ state: "hidden" });
    } },
  ]);

  const codeFile = await damage();
  await take(server, undefined, [
    { name: "rescue", at: "rescue", ready: shown("Show backups") },
    { name: "rescue-backups", at: async () => `rescue#${(await readFile(codeFile, "utf8")).trim()}`, ready: async (page) => {
      await page.getByRole("button", { name: "Show backups" }).click();
      await page.getByRole("button", { name: "Restore" }).waitFor();
    } },
  ]);
});

/** Adds providers with data caps in every state. Nothing listens on their port. */
async function addCaps(): Promise<void> {
  const terabyte = 1e12;
  const caps = [["Filling", { byteLimit: terabyte, resetDay: 5, reservePercent: 20, usedBefore: terabyte * 0.85 }], ["Ended", { byteLimit: terabyte, usedBefore: terabyte }]] as const;
  for (const [name, quota] of caps) {
    await call(world.server, world.cookie, "POST", "providers", { host: "127.0.0.1", port: 9, tls: false, user: name, password: "secret-of-it", name, maxConnections: 8, use: "disabled", priority: 5, quota });
  }
}

/** Restarts the server with a damaged database, which is safe mode. Returns the file with the rescue code. */
async function damage(): Promise<string> {
  let code = "";
  await world.server.restart({ meanwhile: async (data) => {
    code = path.join(data, "rescue-code");
    await writeFile(path.join(data, "sluice.db"), "no database");
  } });
  return code;
}

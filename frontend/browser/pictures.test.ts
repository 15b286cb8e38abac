import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules } from "./checks";
import { type RunningMock, type RunningServer, openPage, setUp, startBrowser, startMock, startServer, windows } from "./harness";
import { call } from "./world";

const run = promisify(execFile);
const release = "Harbour.Lights.2024.1080p.WEB.h264-GRP";

let folder: string;
let server: RunningServer;
let mock: RunningMock;
let browser: Browser;
let cookie: string;
let page: Page & { errors: string[] };
let film: string;

/** What the browser measured of a page: its pictures, and the paint that they wait for. */
interface Measured {
  pictures: { start: number; transferred: number }[];
  paintedAt: number;
}

/** Reads the measurements since the page was opened. */
function measured(page: Page): Promise<Measured> {
  return page.evaluate(
    () =>
      new Promise<Measured>((done) => {
        const seen: Measured = { pictures: [], paintedAt: Number.POSITIVE_INFINITY };
        for (const entry of performance.getEntriesByType("resource") as PerformanceResourceTiming[]) {
          if (entry.name.includes("/api/pictures/")) seen.pictures.push({ start: entry.startTime, transferred: entry.transferSize });
        }
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) seen.paintedAt = Math.min(seen.paintedAt, entry.startTime);
        }).observe({ type: "element", buffered: true });
        // The observers hear of what was before them in a task of their own.
        setTimeout(() => done(seen), 500);
      }),
  );
}

type Size = [width: number, height: number];

/** The size of the first card, which its picture must not change. */
function sizeOfCard(page: Page): Promise<Size> {
  return page.locator("section[aria-labelledby=recent-title] li a").first().evaluate((card: HTMLElement): [number, number] => [card.offsetWidth, card.offsetHeight]);
}

/** Opens Home and waits for the picture of the film. */
async function openHome(page: Page): Promise<{ before: Size; after: Size }> {
  await page.goto("");
  await page.getByText("Recently added").waitFor();
  const before = await sizeOfCard(page);
  await page.waitForFunction(() => [...document.querySelectorAll<HTMLImageElement>("img[src*='/api/pictures/']")].some((img) => img.complete && img.naturalWidth > 0));
  return { before, after: await sizeOfCard(page) };
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sluice-pictures-"));
  const media = path.join(folder, "film.mp4");
  // Dark until after the first minute, then a test card.
  await run("ffmpeg", [
    "-v", "error", "-f", "lavfi", "-i", "color=black:size=640x360:rate=5:duration=66", "-f", "lavfi", "-i", "testsrc=size=640x360:rate=5:duration=30",
    "-filter_complex", "[0][1]concat", "-c:v", "libx264", "-g", "5", "-pix_fmt", "yuv420p", "-movflags", "+faststart", media,
  ]);
  [browser, server, mock] = await Promise.all([startBrowser(), startServer(), startMock(`--media=${media}`, `--nzb=${path.join(folder, "film.nzb")}`, "--latency=2", "--jitter=0")]);
  cookie = await setUp(server);
  const [host = "", port = ""] = (mock.providers[0] ?? "").split(":");
  await call(server, cookie, "POST", "providers", { host, port: Number(port), tls: false, user: "", password: "", name: "Main", maxConnections: 8, use: "primary", priority: 0 });
  const form = new FormData();
  form.append("category", "movies");
  form.append("file", new Blob([await readFile(path.join(folder, "film.nzb"), "utf8")]), `${release}.nzb`);
  await call(server, cookie, "POST", "queue", form);
  page = await openPage(browser, server, { cookie });
  page.setDefaultTimeout(60_000);
  await page.goto("");
  await page.getByRole("link", { name: /^Play Harbour Lights/ }).waitFor();
  film = (await call<{ recent: { filmId: string }[] }>(server, cookie, "GET", "home")).recent[0]?.filmId ?? "";
}, 240_000);

afterAll(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), mock?.stop()]);
  if (folder) await rm(folder, { recursive: true, force: true });
});

describe("pictures of films", { timeout: 240_000 }, () => {
  it("are drawn as long as there is none", async () => {
    expect(await page.locator("img[src*='/api/pictures/']").count()).toBe(0);
    expect((await measured(page)).pictures).toEqual([]);
  });

  it("are taken by the player after a minute of film, and not of the dark", async () => {
    const stills: string[] = [];
    page.on("request", (request) => request.url().endsWith("/still") && stills.push(request.method()));
    await page.goto(`files/movies/${release}?play=${film}`);
    const video = page.locator("video");
    await video.evaluate((element: HTMLVideoElement) => {
      element.muted = true;
      return element.play();
    });
    const playTo = async (from: number, until: number) => {
      await video.evaluate((element: HTMLVideoElement, at) => (element.currentTime = at), from);
      await expect.poll(() => video.evaluate((element: HTMLVideoElement) => element.currentTime), { timeout: 60_000 }).toBeGreaterThan(until);
    };
    await playTo(1, 2);
    await playTo(61, 63);
    expect(stills).toEqual([]);
    const kept = page.waitForResponse((response) => response.url().endsWith(`/api/files/${film}/still`));
    await video.evaluate((element: HTMLVideoElement) => (element.currentTime = 75));
    expect((await kept).status()).toBe(204);
    const { wantsStill } = await call<{ wantsStill: boolean }>(server, cookie, "GET", `files/${film}`);
    expect([stills, wantsStill]).toEqual([["PUT"], false]);
  });

  it("are small, and come onto Home after what is read, in their boxes, once", async () => {
    const fresh = await openPage(browser, server, { cookie, ...windows.desktop });
    fresh.setDefaultTimeout(60_000);
    const { before, after } = await openHome(fresh);
    expect(after).toEqual(before);
    const first = await measured(fresh);
    expect(first.pictures).toHaveLength(1);
    expect(first.pictures[0]?.transferred).toBeLessThan(21_000);
    expect(first.pictures[0]?.start).toBeGreaterThan(first.paintedAt);
    expect(await fresh.locator("img[src*='/api/pictures/']").first().evaluate((img: HTMLImageElement) => [img.naturalWidth, img.naturalHeight])).toEqual([320, 180]);
    expect(await brokenRules(fresh)).toEqual([]);

    await openHome(fresh);
    expect((await measured(fresh)).pictures.map(({ transferred }) => transferred)).toEqual([0]);
    expect(fresh.errors).toEqual([]);
    await fresh.context().close();
  });
});

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, settle } from "./checks";
import { type RunningMock, type RunningServer, openPage, setUp, startBrowser, startMock, startServer } from "./harness";
import { call, until } from "./world";

const run = promisify(execFile);
const seconds = 60;
const time = (at: number) => `00:00:${String(Math.floor(at)).padStart(2, "0")},${at % 1 === 0 ? "000" : "500"}`;
const linesOf = (word: string) =>
  Array.from({ length: seconds / 3 }, (_, at) => `${at + 1}\n${time(at * 3 + 0.5)} --> ${time(at * 3 + 2.5)}\n${word} ${at}\n`).join("\n");

let hasFilm = false;
let folder: string;
let server: RunningServer;
let browser: Browser;
let mock: RunningMock;
let cookie: string;
let film: string;

/** A film with timed text inside and a subtitle file next to it. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sluice-subtitles-"));
  const [inside, beside, video, nzb] = ["inside.srt", "Harbour.Lights.2019.fr.srt", "Harbour.Lights.2019.mp4", "film.nzb"].map((name) => path.join(folder, name)) as [string, string, string, string];
  await writeFile(inside, linesOf("Inside"));
  await writeFile(beside, Buffer.from(linesOf("À côté"), "latin1"));
  const made = await run("ffmpeg", [
    "-v", "error", "-f", "lavfi", "-i", `testsrc2=size=320x180:rate=25:duration=${seconds}`, "-i", inside, "-map", "0:v", "-map", "1:s", "-c:v", "libx264", "-preset", "ultrafast",
    "-pix_fmt", "yuv420p", "-c:s", "mov_text", "-metadata:s:s:0", "language=eng", "-movflags", "+faststart", video,
  ]).catch((reason: unknown) => reason as { code?: string });
  if ("code" in made && made.code === "ENOENT") return;
  if (!("stdout" in made)) throw new Error("ffmpeg made no film.");
  hasFilm = true;
  [server, browser, mock] = await Promise.all([startServer(), startBrowser(), startMock(`--media=${video}`, `--media=${beside}`, `--nzb=${nzb}`, "--article-size=50000", "--max-conns=0")]);
  cookie = await setUp(server);
  const [host = "", port = ""] = (mock.providers[0] ?? "").split(":");
  await call(server, cookie, "POST", "providers", { host, port: Number(port), tls: false, user: "", password: "", name: "main", maxConnections: 20, use: "primary", priority: 0 });
  const form = new FormData();
  form.append("category", "movies");
  form.append("file", new Blob([await readFile(nzb, "utf8")]), "Harbour.Lights.2019.nzb");
  await call(server, cookie, "POST", "queue", form);
  await until("the import has ended", async () => (await call<{ total: number }>(server, cookie, "GET", "history?limit=1")).total >= 1);
  film = (await call<{ items: { id: string; name: string }[] }>(server, cookie, "GET", "files?path=movies/Harbour.Lights.2019")).items.find((file) => file.name.endsWith(".mp4"))?.id ?? "";
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await mock?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("subtitles of a film", () => {
  it("come from inside the film a little ahead of the picture, after a seek too", async (context) => {
    if (!hasFilm) context.skip("ffmpeg is not installed");
    const page = await openFilm();
    await page.getByRole("combobox", { name: "Subtitles" }).selectOption({ label: "English" });
    await shown(page, /^Inside \d+$/);
    await page.locator("video").evaluate((video: HTMLVideoElement) => {
      video.pause();
      video.currentTime = 46;
    });
    await shown(page, /^Inside 15$/);
    await page.getByRole("combobox", { name: "Subtitles" }).selectOption({ label: "Off" });
    await until("no line is shown", async () => (await activeText(page)) === "");
    expect(await brokenRules(page)).toEqual([]);
    expect(page.errors).toEqual([]);
  });

  it("come from a file next to the film, in its code page", async (context) => {
    if (!hasFilm) context.skip("ffmpeg is not installed");
    const page = await openFilm();
    await page.getByRole("combobox", { name: "Subtitles" }).selectOption({ label: "French" });
    await page.locator("video").evaluate((video: HTMLVideoElement) => {
      video.pause();
      video.currentTime = 31;
    });
    await shown(page, /^À côté 10$/);
    expect(page.errors).toEqual([]);
  });
});

async function openFilm(): Promise<Page & { errors: string[] }> {
  const page = await openPage(browser, server, { cookie });
  await page.goto(`files/movies/Harbour.Lights.2019?play=${film}`);
  await settle(page);
  await page.locator("video").waitFor();
  return page;
}

/** The text on the picture; empty if there is none. */
function activeText(page: Page): Promise<string> {
  return page.locator("video").evaluate((video: HTMLVideoElement) =>
    [...video.textTracks].filter((track) => track.mode === "showing").flatMap((track) => [...(track.activeCues ?? [])].map((cue) => (cue as VTTCue).text)).join(" "),
  );
}

const shown = (page: Page, text: RegExp) => until(`${text} is shown`, async () => text.test(await activeText(page)));

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, overflowAt, smallTargets } from "./checks";
import { type RunningMock, type RunningServer, openPage, setUp, startBrowser, startMock, startServer, windows } from "./harness";

const clip = "d3305eed-0000-4000-8000-511ce0000001";

const deadNzb = `<?xml version="1.0" encoding="UTF-8"?>
<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"><file poster="a@b" date="1700000000" subject="&quot;gone.mkv&quot; yEnc (1/2)"><groups><group>alt.binaries.test</group></groups>
<segments><segment bytes="740000" number="1">gone-1@nowhere</segment><segment bytes="740000" number="2">gone-2@nowhere</segment></segments></file></nzb>`;

let folder: string;
let mock: RunningMock;
let server: RunningServer;
let browser: Browser;
let cookie: string;
let page: Page & { errors: string[] };

async function call(method: string, where: string, body?: object): Promise<void> {
  const headers = { "Content-Type": "application/json", "X-Csrf": "1", Origin: new URL(server.url).origin, Cookie: cookie };
  const response = await fetch(`${server.url}/api/${where}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  if (!response.ok) throw new Error(`${where}: ${response.status} ${await response.text()}`);
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sluice-lists-"));
  [mock, server, browser] = await Promise.all([
    startMock("--size=4", "--latency=1", "--jitter=0", `--nzb=${path.join(folder, "Film.2026.1080p.nzb")}`),
    startServer(),
    startBrowser("--host-resolver-rules=MAP nas.test 127.0.0.1", "--autoplay-policy=no-user-gesture-required"),
  ]);
  cookie = await setUp(server);
  page = await openPage(browser, server, { cookie });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await mock?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("files, queue and history", () => {
  it("play the built-in clip over plain HTTP on a LAN name, show its figures and copy its link", async () => {
    const page = await openPage(browser, server);
    const home = new URL(server.url);
    home.hostname = "nas.test";
    const [name = "", value = ""] = cookie.split("=");
    await page.context().addCookies([{ name, value, url: home.href }]);
    await page.goto(`${home.href}files?play=${clip}`);
    const dialog = page.getByRole("dialog");
    await dialog.locator("video").waitFor();
    expect(await dialog.getByText("Start-up time").isVisible()).toBe(false);
    await dialog.getByText("Details", { exact: true }).click();
    await dialog.getByText("Video and audio OK.").waitFor();
    expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
    expect(await dialog.locator("dd").first().textContent()).toMatch(/^[\d.]+ (ms|sec)/);
    await dialog.locator("video").evaluate((video: HTMLVideoElement) => void (video.currentTime = 8));
    await dialog.getByText("Last seek").waitFor();
    await dialog.getByRole("button", { name: "Copy password-free link" }).click();
    await dialog.getByText("Copied").waitFor();
    expect(await brokenRules(page)).toEqual([]);
    expect(page.errors).toEqual([]);
    await page.context().close();
  });

  it("lead from the drop zone to the files, and explain a failed import", async () => {
    const [host = "", port = ""] = (mock.providers[0] ?? "").split(":");
    await call("POST", "providers", { host, port: Number(port), tls: false, user: "", password: "", maxConnections: 4 });
    await page.goto("history");
    await page.getByText("No imports yet").waitFor();
    await page.getByRole("link", { name: "Go to queue" }).click();
    const buffer = await readFile(path.join(folder, "Film.2026.1080p.nzb"));
    await page.locator("input[type=file]").setInputFiles([
      { name: "Film.2026.1080p.nzb", mimeType: "application/x-nzb", buffer },
      { name: "Gone.2026.nzb", mimeType: "application/x-nzb", buffer: Buffer.from(deadNzb) },
    ]);
    await page.getByText("2 queued").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    // The event stream updates the page; nothing is reloaded.
    await page.getByRole("heading", { name: "2 imports" }).waitFor();

    await page.getByText("Gone.2026", { exact: true }).click();
    const sheet = page.getByRole("dialog", { name: "Gone.2026" });
    await sheet.getByRole("heading", { name: "Post is gone" }).waitFor();
    await sheet.getByRole("heading", { name: "What to do" }).waitFor();
    expect(await sheet.getByRole("link", { name: "Open providers" }).getAttribute("href")).toBe("/settings/providers");
    expect(await brokenRules(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForURL("**/history");

    await page.getByText("Film.2026.1080p", { exact: true }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Open files" }).click();
    await page.waitForURL("**/files/**/Film.2026.1080p");
    const row = page.getByRole("table", { name: "Files" }).locator("tr[data-row]").first();
    await row.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("WebDAV address").waitFor();
    expect(page.errors).toEqual([]);
  });

  it("turn the toast of one NZB into a button that plays it", async () => {
    await page.goto("queue");
    const buffer = await readFile(path.join(folder, "Film.2026.1080p.nzb"));
    await page.locator("input[type=file]").setInputFiles([{ name: "Another.2026.1080p.nzb", mimeType: "application/x-nzb", buffer }]);
    await page.getByText("Another.2026.1080p is ready").waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).click();
    // The same NZB is the same release, so it keeps its folder.
    await page.waitForURL("**/files/**/Film.2026.1080p**");
    expect(new URL(page.url()).searchParams.has("play")).toBe(true);
    await page.getByRole("dialog").waitFor();
    expect(page.errors).toEqual([]);
  });

  it("undo a removal while the list stays live", async () => {
    await page.goto("history?q=gone");
    await page.getByText("Gone.2026", { exact: true }).waitFor();
    await page.locator("tr[data-row]").first().focus();
    await page.keyboard.press("Delete");
    await page.getByText("No matches").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Gone.2026", { exact: true }).waitFor();
  });

  it("are accessible, fit the window and have large targets, with rows and on phones", async () => {
    await call("POST", "queue/pause", {});
    const form = new FormData();
    form.append("file", new Blob([deadNzb]), "Paused.2026.nzb");
    const response = await fetch(`${server.url}/api/queue`, { method: "POST", body: form, headers: { "X-Csrf": "1", Origin: new URL(server.url).origin, Cookie: cookie } });
    expect(response.status).toBe(200);
    for (const [window, scheme] of [["desktop", "light"], ["phone", "dark"]] as const) {
      const page = await openPage(browser, server, { cookie, colorScheme: scheme, ...windows[window] });
      await page.goto("files");
      for (const where of ["files", "queue", "history"]) {
        await page.locator(`nav a[href$="/${where}"]`).locator("visible=true").click();
        await page.waitForURL(`**/${where}`);
        await page.getByRole("heading", { name: where, level: 1 }).waitFor();
        await page.locator("[data-row]").first().waitFor();
        expect([where, window, await brokenRules(page)]).toEqual([where, window, []]);
        expect([where, window, await smallTargets(page, window === "phone" ? 44 : 24)]).toEqual([where, window, []]);
        expect([where, window, await overflowAt(page)]).toEqual([where, window, [0, 0, 0, 0]]);
        await page.setViewportSize(windows[window].viewport);
      }
      await page.context().close();
    }
  });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, settle } from "./checks";
import { openPage as open, setupCode, startBrowser, startServer } from "./harness";
import { type World, call, deadNzb, playSlowly, startWorld } from "./world";

let world: World;
let browser: Browser;

beforeAll(async () => {
  [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
  await world.add("Harbour.Lights.2024.720p", world.clip, "*");
  await world.untilHistory(1);
}, 120_000);

const openPage: typeof open = async (...how) => {
  const page = await open(...how);
  page.setDefaultTimeout(10_000);
  return page;
};

afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

/** Records where the chart draws the labels of its time axis, because a canvas has no text to query. */
async function watchLabels(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const drawn: { text: string; from: number; to: number; y: number }[] = [];
    Object.assign(window, { drawn });
    const fillText = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
      const { width } = this.measureText(text);
      if (this.textAlign === "center" && /\d/.test(text)) drawn.push({ text, from: x - width / 2, to: x + width / 2, y });
      return fillText.call(this, text, x, y, ...rest);
    };
  });
}

/** Returns the labels of the last drawn chart, from left to right. */
const labelsOf = (page: Page) =>
  page.evaluate(() => {
    const { drawn } = window as unknown as { drawn: { text: string; from: number; to: number; y: number }[] };
    const seen = new Map(drawn.slice(-40).map((label) => [label.text, label]));
    return [...seen.values()].sort((one, other) => one.from - other.from);
  });

describe("the chart of the throughput", () => {
  for (const locale of ["en-US", "de-DE"]) {
    it(`has labels that do not overlap, in ${locale}`, async () => {
      for (const width of [390, 1_280, 1_440, 1_920]) {
        // The hour has its first sample after ten seconds; a day would need four minutes.
        for (const window of ["ten-minutes", "hour"]) {
          const page = await openPage(browser, world.server, { cookie: world.cookie, locale, viewport: { width, height: 900 } });
          await watchLabels(page);
          await page.goto(`?window=${window}`);
          await page.locator(".uplot canvas").waitFor();
          await page.waitForFunction(() => (window as unknown as { drawn: unknown[] }).drawn.length > 0, undefined, { timeout: 30_000 });
          const labels = await labelsOf(page);
          const meeting = labels.filter((label, at) => at > 0 && label.from < (labels[at - 1]?.to ?? 0) + 4).map(({ text }) => text);
          expect([locale, width, window, meeting]).toEqual([locale, width, window, []]);
          expect(labels.filter(({ text }) => /:\d\d:/.test(text))).toEqual([]);
          await page.context().close();
        }
      }
    });
  }
});

describe("lists", () => {
  it("have names that are links for the keyboard and for new tabs", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("history");
    const name = page.getByRole("link", { name: "Harbour.Lights.2024.720p" });
    await name.waitFor();
    expect(await name.getAttribute("href")).toMatch(/\/history\/SABnzbd_nzo_/);
    await name.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Harbour.Lights.2024.720p" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goto("files/uncategorized/Harbour.Lights.2024.720p");
    expect(await page.locator("tbody a").first().getAttribute("href")).toContain("file=");
    await page.context().close();
  });

  it("list their own keys among the shortcuts", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("history");
    await page.locator("tbody tr").first().waitFor();
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    for (const label of ["Next row", "Open item", "Select row", "Remove"]) await keys.getByText(label, { exact: true }).waitFor();
    await page.context().close();
  });

  it("show the folder of a release without a category, and never a star", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("history");
    await page.getByText("uncategorized").first().waitFor();
    expect(await page.getByText("*", { exact: true }).count()).toBe(0);
    await page.context().close();
  });
});

describe("a retried import", () => {
  it("is followed by its toast until it has failed again", async () => {
    await world.add("Gone.Film.1999", deadNzb, "movies");
    await world.untilHistory(2);
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("history");
    const row = page.locator("tr[data-row]").filter({ hasText: "Gone.Film.1999" });
    await row.focus();
    await page.keyboard.press("r");
    await page.getByRole("alert").getByText("Gone.Film.1999 failed").waitFor();
    expect(await page.getByText("Back in the queue").count()).toBe(0);
    await page.context().close();
  });
});

describe("a drop of several NZBs", () => {
  const names = ["E09", "E06", "E10", "E07", "E08", "E01"].map((part) => `Tide.Pool.S01${part}.720p`);

  it("is queued in the order of the drop, and one toast counts its results", async () => {
    await call(world.server, world.cookie, "POST", "queue/pause", {});
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("queue");
    await page.getByText("The queue is empty").waitFor();
    // The first is slow to send, so that a later one could overtake it.
    let sent = 0;
    await page.route("**/api/queue", async (route) => {
      sent += 1;
      if (sent === 1) await new Promise((done) => setTimeout(done, 1_000));
      await route.continue();
    });
    // Only the first two have articles.
    const files = names.map((name, at) => ({ name: `${name}.nzb`, text: at < 2 ? world.clip.replace('poster="', `poster="${at}`) : deadNzb }));
    await page.evaluate((dropped) => {
      const dataTransfer = new DataTransfer();
      for (const { name, text } of dropped) dataTransfer.items.add(new File([text], name));
      document.querySelector("h1")?.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }, files);
    await page.getByText(`${names.length} queued`).waitFor();
    const { items } = await call<{ items: { name: string }[] }>(world.server, world.cookie, "GET", "queue?limit=50");
    expect(items.map(({ name }) => name)).toEqual(names);
    const rows = page.locator("tr[data-row]");
    await rows.nth(names.length - 1).waitFor();
    expect((await rows.allInnerTexts()).map((text) => names.find((name) => text.includes(name)))).toEqual(names);

    await call(world.server, world.cookie, "POST", "queue/resume", {});
    const toast = page.getByRole("alert").filter({ hasText: "2 ready, 4 failed" });
    await toast.waitFor({ timeout: 50_000 });
    await toast.getByRole("button", { name: "Review" }).click();
    await page.waitForURL("**/history?result=failed");
    await page.context().close();
  });
});

describe("a server with failures", () => {
  it("names the release and the reason in its log", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("logs?q=Gone.Film.1999");
    const line = page.getByRole("listitem").filter({ hasText: "no longer exists" }).first();
    await line.getByText(/^Gone\.Film\.1999/).waitFor();
    await line.getByText("Warning", { exact: true }).waitFor();
    await page.context().close();
  });
});

describe("a fresh server", () => {
  it("suggests its own mount folder and the port in use", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("setup?step=apps");
    await page.getByText("/mnt/sluice").first().waitFor();
    expect(await page.getByText("nzbdav").count()).toBe(0);
    await page.goto("settings/system");
    const address = page.getByRole("textbox", { name: "Server address" });
    await address.waitFor();
    expect(await address.inputValue()).toBe(`http://localhost:${new URL(world.server.url).port}`);
    await page.context().close();
  });
});

describe("Home", () => {
  it("asks the server for little, compressed", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("?window=hour");
    await page.locator(".uplot canvas").waitFor();
    await page.getByText("Recently added").waitFor();
    const answers = await page.evaluate(() =>
      (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
        .filter(({ name }) => /\/api\/(?!events|pictures)/.test(name))
        .map(({ name, encodedBodySize, decodedBodySize }) => ({ name, encodedBodySize, decodedBodySize })),
    );
    expect(answers.some(({ name }) => name.includes("/api/stats"))).toBe(true);
    expect(answers.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)).toBeLessThan(9_000);
    expect(answers.filter(({ encodedBodySize, decodedBodySize }) => decodedBodySize > 1_100 && encodedBodySize >= decodedBodySize)).toEqual([]);
    await page.context().close();
  });
});

describe("a playback", () => {
  it("has one state in its badge, sentence and reason", async () => {
    await world.add("Long.Film.2024.1080p", await world.nzb(7, { size: 60 }), "movies");
    await expect.poll(() => fileOf("Long.Film"), { timeout: 60_000 }).toBeDefined();
    const stop = await playSlowly(world, (await fileOf("Long.Film")) ?? "", "VLC/3.0.20 LibVLC/3.0.20", 900_000);
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("");
    await page.locator("main a[href*='/streams/']:not([href$='/receipts'])").first().click();
    await page.waitForURL(/\/streams\/(?!receipts)/);
    await page.getByText(/^Playing smoothly/).waitFor();
    // Read at once, because the next frame may bring another state.
    const said = await page.waitForFunction(() => {
      const text = document.querySelector("main")?.innerText ?? "";
      return text.includes("Playing smoothly") ? text : null;
    });
    const text = await said.jsonValue();
    expect(text).toContain("Not waiting for anything");
    expect(text).not.toMatch(/Why it's waiting|What's slowing it down/);
    expect(text).toMatch(/^Playing$/m);
    stop();
    await page.context().close();
  });
});

/** The id of the file of a release; undefined until it is imported. */
async function fileOf(release: string): Promise<string | undefined> {
  const { items } = await call<{ items: { id: string | null; path: string }[] }>(world.server, world.cookie, "GET", "files?q=film&limit=50");
  return items.find(({ id, path }) => id !== null && path.includes(release))?.id ?? undefined;
}

describe("WebDAV addresses in a browser", () => {
  it.each([["content/uncategorized/", "/files/uncategorized"], ["nzbs/", "/queue"], ["completed-symlinks/", "/files"]])("/%s opens the page %s", async (path, to) => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto(path);
    await settle(page);
    expect(new URL(page.url()).pathname).toBe(to);
    await page.context().close();
  });

  it("report an unknown path without asking for a password", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("nowhere");
    await page.getByText("Page not found").first().waitFor();
    await page.context().close();
  });
});

describe("the setup", () => {
  it("takes the code from a link pasted into its tab, and a file dropped outside the zone", async () => {
    const fresh = await startServer();
    const page = await openPage(browser, fresh, {});
    await page.goto("setup");
    await page.getByRole("textbox", { name: "Setup code" }).waitFor();
    await page.goto(`setup#${setupCode}`);
    await page.getByRole("textbox", { name: "Setup code" }).waitFor({ state: "detached" });
    const isOpened = await page.evaluate(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["<nzb>"], "film.nzb"));
      const drop = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
      return document.querySelector("h1")?.dispatchEvent(drop);
    });
    expect(isOpened).toBe(false);
    await page.context().close();
    await fresh.stop();
  });
});

describe("the page of a playback", () => {
  it("is accessible", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("streams/none");
    await settle(page);
    expect(await brokenRules(page)).toEqual([]);
    await page.context().close();
  });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, settle } from "./checks";
import { openPage as open, setupCode, startBrowser, startServer } from "./harness";
import { type World, deadNzb, startWorld } from "./world";

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
    for (const label of ["Next row", "Open the row", "Select the row", "Remove"]) await keys.getByText(label, { exact: true }).waitFor();
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

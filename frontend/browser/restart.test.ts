import type { Browser, Page } from "playwright-core";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { settle } from "./checks";
import { type RunningServer, openPage as open, setUp, startBrowser, startServer } from "./harness";

let server: RunningServer;
let browser: Browser;
let cookie: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  cookie = await setUp(server);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const away = "The server is restarting – this opens by itself.";
const scripts = "**/assets/*.js";

/** Opens a page that is closed after the test, also if it fails, because pages left open would slow down the next ones. */
async function openPage({ onTestFinished }: TestContext): Promise<Page & { errors: string[] }> {
  const page = await open(browser, server, { cookie });
  onTestFinished(() => page.context().close());
  return page;
}

/** Opens a page and blocks all parts that it has not loaded yet. `letIn` unblocks them. */
async function openWithout(test: TestContext, where: string, how: "404" | "503" | "never"): Promise<{ page: Page & { errors: string[] }; letIn: () => void }> {
  const page = await openPage(test);
  let isAway = true;
  let held: (() => void)[] = [];
  await page.goto(where);
  await settle(page);
  await page.route(scripts, async (route) => {
    if (!isAway) return route.continue();
    if (how !== "never") return route.fulfill({ status: Number(how) });
    // A server that stops resets the connections it has not answered.
    await new Promise<void>((done) => held.push(done));
    await route.abort("connectionreset");
  });
  const letIn = () => {
    isAway = false;
    held.forEach((end) => end());
    held = [];
  };
  return { page, letIn };
}

const pages = { "": "Files", files: "Queue", queue: "History", history: "Logs", logs: "Settings", settings: "Files", "streams/none": "Queue" };

describe("a server that restarts under an open tab", () => {
  for (const how of ["404", "503", "never"] as const) {
    // They mostly wait, and no other test restarts the server meanwhile.
    it.concurrent.for(Object.entries(pages))(`keeps the frame of /%s while its parts get the answer ${how}, then opens %s by itself`, async ([where, next], test) => {
      const { page, letIn } = await openWithout(test, where, how);
      const heading = await page.locator("h1").textContent();
      const rail = page.getByRole("navigation", { name: "Pages" }).first();
      // Asks for a menu, a dialog and a page.
      await page.getByRole("button", { name: "Theme" }).click();
      await page.keyboard.press("?");
      await rail.getByRole("link", { name: next, exact: true }).click();
      await page.getByText(away).waitFor();
      expect([await rail.isVisible(), await page.locator("h1").textContent()]).toEqual([true, heading]);
      letIn();
      // The open dialog hides the heading from role queries.
      await page.locator("h1", { hasText: new RegExp(`^${next}$`) }).waitFor();
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
      await page.getByText(away).waitFor({ state: "detached" });
    });
  }

  it("keeps typed text, and the notice disappears by itself", async (test) => {
    const page = await openPage(test);
    await page.goto("queue");
    await settle(page);
    const address = page.getByRole("textbox", { name: "NZB link" });
    await address.fill("https://indexer.test/film.nzb");
    await server.restart({
      meanwhile: async () => {
        await page.getByText(away).waitFor();
      },
    });
    await page.getByText(away).waitFor({ state: "detached" });
    expect(await address.inputValue()).toBe("https://indexer.test/film.nzb");
  });

  it("takes a file that is dropped before the upload part is loaded", async (test) => {
    const { page, letIn } = await openWithout(test, "files", "503");
    await page.evaluate(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["no NZB"], "film.nzb"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    });
    await page.getByText(away).waitFor();
    letIn();
    await page.getByText("0 queued, 1 rejected").waitFor();
  });
});

describe("a server that was updated under an open tab", () => {
  const update = async (page: Page) => {
    const own = await (await page.request.get(`${server.url}/`)).text();
    const other = own.replace(/(<link rel="modulepreload"[^>]*href=")[^"]+/, "$1./assets/index-of-another-build.js");
    await page.route(scripts, (route) => route.fulfill({ status: 404 }));
    await page.route(`${server.url}/`, (route) => route.fulfill({ contentType: "text/html", body: other }));
  };

  it("reloads the tab once, at the requested page", async (test) => {
    const page = await openPage(test);
    await page.goto("files");
    await settle(page);
    await update(page);
    const loads: string[] = [];
    page.on("request", (request) => request.isNavigationRequest() && loads.push(new URL(request.url()).pathname));
    await page.getByRole("link", { name: "Queue", exact: true }).first().click();
    await page.waitForURL("**/queue");
    expect(loads).toEqual(["/queue"]);
  });

  it("does not reload the tab over typed text", async (test) => {
    const page = await openPage(test);
    await page.goto("settings/system");
    await settle(page);
    const field = page.locator("main input[type=text], main input[type=url]").first();
    await field.fill("http://nas.test:3000");
    await update(page);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Queue", exact: true }).first().click();
    await page.getByText("Sluice was updated.").waitFor();
    expect(await field.inputValue()).toBe("http://nas.test:3000");
  });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, overflowAt, settle, smallTargets } from "./checks";
import { type RunningServer, openPage, setUp, startBrowser, startServer, windows } from "./harness";

const clip = "d3305eed-0000-4000-8000-511ce0000001";

let server: RunningServer;
let browser: Browser;
let cookie: string;
let page: Page;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  cookie = await setUp(server);
  page = await openPage(browser, server, { cookie });
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Reads the built-in clip once, like a player. */
async function playClip(): Promise<void> {
  const detail = await fetch(`${server.url}/api/files/${clip}`, { headers: { Cookie: cookie } });
  const { links } = (await detail.json()) as { links: { signed: string } };
  const address = new URL(links.signed, server.url);
  const film = await fetch(`${server.url}${address.pathname}${address.search}`, { headers: { "User-Agent": "VLC/3.0.20 LibVLC/3.0.20" } });
  if (!film.ok) throw new Error(`The clip: ${film.status}`);
  await film.arrayBuffer();
}

describe("Home, the page of a playback and the log", () => {
  it("get the answers of Home with the page, each once, and not those of other pages", async () => {
    const asked = async (path: string) => {
      const fresh = await openPage(browser, server, { cookie });
      await fresh.goto(path);
      await settle(fresh);
      const answers = await fresh.evaluate(() =>
        (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
          .filter(({ name }) => /\/api\/(home|session)$/.test(name))
          .map(({ name, initiatorType }) => `${new URL(name).pathname} by ${initiatorType}`),
      );
      expect(fresh.errors).toEqual([]);
      await fresh.context().close();
      return answers.sort();
    };
    expect(await asked("")).toEqual(["/api/home by link", "/api/session by link"]);
    expect(await asked("queue")).toEqual(["/api/session by fetch"]);
  });

  it("are accessible, fit the window and have large targets on an empty server", async () => {
    for (const [window, scheme] of [["desktop", "light"], ["phone", "dark"]] as const) {
      const looked = await openPage(browser, server, { cookie, colorScheme: scheme, ...windows[window] });
      const ways = { "": () => looked.goto(""), logs: () => looked.keyboard.type("gl"), "streams/none": () => looked.goto("streams/none") };
      for (const [path, go] of Object.entries(ways)) {
        await go();
        await looked.waitForURL(`${server.url}/${path}`);
        await looked.locator("main h2, main [role=region], main a").first().waitFor();
        await settle(looked);
        expect(await brokenRules(looked), path).toEqual([]);
        expect(await smallTargets(looked, window === "phone" ? 44 : 24), path).toEqual([]);
        expect(await overflowAt(looked), path).toEqual([0, 0, 0, 0]);
        await looked.setViewportSize(windows[window].viewport);
      }
      await looked.context().close();
    }
  });

  it("report the missing provider and offer the built-in clip", async () => {
    await page.goto("");
    await page.getByText("Add your Usenet provider").waitFor();
    expect(await page.getByRole("link", { name: "Play the clip" }).getAttribute("href")).toContain(`play=${clip}`);
  });

  it("follow a playback by events, without requests", async () => {
    // The page has sent all requests once it listens to events and shows no Skeleton; only the event stream may reconnect later.
    const listens = page.waitForResponse((response) => response.url().includes("/api/events"));
    await page.goto("");
    await page.getByText("Nothing is playing", { exact: true }).first().waitFor();
    await Promise.all([listens, settle(page), page.waitForLoadState("load")]);
    const requests: string[] = [];
    page.on("request", (request) => /\/api\/(?!events)/.test(request.url()) && requests.push(request.url()));
    await playClip();
    // The clip is too short to be a playback, so it counts as a scan.
    await page.locator("main").getByText(/VLC/).first().waitFor();
    expect(requests.join(" ")).toBe("");
  });

  it("show new log lines live and keep the filter in the address", async () => {
    await page.goto("logs");
    await page.getByRole("region", { name: "Log" }).getByRole("listitem").first().waitFor();
    await page.getByRole("searchbox").fill("nothing has these words");
    await page.getByText("No matches").waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("nothing has these words");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByRole("listitem").first().waitFor();
  });

  it("raise the log level for 15 minutes and reset it on request", async () => {
    await page.goto("logs");
    await page.getByRole("button", { name: "Log more detail" }).click();
    await page.getByRole("menuitem", { name: "Debug for 15 min" }).click();
    await page.getByText(/for 1[45] min/).waitFor();
    await page.getByRole("button", { name: "Back to normal" }).click();
    await page.getByRole("button", { name: "Log more detail" }).waitFor();
  });
});

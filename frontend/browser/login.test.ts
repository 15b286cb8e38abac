import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, overflowAt, smallTargets } from "./checks";
import { type RunningServer, logIn, openPage, setUp, startBrowser, startServer, windows } from "./harness";

let server: RunningServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe("the frame", () => {
  it("redirects to the setup first, then to the login with the way back", async () => {
    const page = await openPage(browser, server);
    await page.goto("");
    await page.waitForURL("**/setup");
    await setUp(server);
    await page.goto("queue");
    await page.waitForURL("**/login?return=%2Fqueue");
    expect(await page.locator("h1").count()).toBe(1);
  });

  it("is accessible, fits the window and has large targets after a login", async () => {
    const cookie = await logIn(server);
    for (const [window, scheme] of [["desktop", "light"], ["phone", "dark"]] as const) {
      const page = await openPage(browser, server, { cookie, colorScheme: scheme, ...windows[window] });
      await page.goto("");
      await page.locator("h1").waitFor();
      expect(await brokenRules(page)).toEqual([]);
      expect(await smallTargets(page, window === "phone" ? 44 : 24)).toEqual([]);
      expect(await overflowAt(page)).toEqual([0, 0, 0, 0]);
      await page.context().close();
    }
  });

  it("names the networks without a password on every page", async () => {
    const open = await startServer({ environment: { DISABLE_WEBDAV_AUTH: "true", SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS: "192.0.2.0/24" } });
    try {
      const page = await openPage(browser, open, { cookie: await setUp(open), ...windows.phone });
      for (const where of ["", "files", "queue", "history", "logs", "settings"]) {
        await page.goto(where);
        await page.getByText("Anyone on 192.0.2.0/24 can read all files without a password.").waitFor();
      }
      await page.getByRole("link", { name: "Change access" }).click();
      await page.getByText("Networks without password").waitFor();
      await page.context().close();
    } finally {
      await open.stop();
    }
  });
});

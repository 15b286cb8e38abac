import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, overflowAt, settle, smallTargets } from "./checks";
import { type RunningServer, openPage, setUp, startBrowser, startServer, windows } from "./harness";
import { call } from "./world";

const terabyte = 1e12;

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

const looks = [["desktop", "light", 24], ["phone", "dark", 44], ["desktop", "dark", 24], ["phone", "light", 44]] as const;

/** Nothing listens on this port, so no byte is counted. */
function provider(name: string, quota: object | null) {
  return { host: "127.0.0.1", port: 1, tls: false, user: name, password: "secret-of-it", name, maxConnections: 2, use: "disabled", priority: 0, quota };
}

describe("the data caps of providers", () => {
  it("are shown in every state, theme and size", async () => {
    await call(server, cookie, "POST", "providers", provider("Fresh", { byteLimit: terabyte, resetDay: 5 }));
    await call(server, cookie, "POST", "providers", provider("Filling", { byteLimit: terabyte, resetDay: 5, reservePercent: 20, usedBefore: terabyte * 0.85 }));
    await call(server, cookie, "POST", "providers", provider("Ended", { byteLimit: terabyte, usedBefore: terabyte }));
    await call(server, cookie, "POST", "providers", provider("Free of caps", null));
    for (const [window, colorScheme, pixels] of looks) {
      const page = await openPage(browser, server, { cookie, colorScheme, ...windows[window] });
      await page.goto("settings/providers");
      await page.getByText("850 GB of 1 TB used, 150 GB left").waitFor();
      expect(await page.getByRole("progressbar", { name: /^Data cap of/ }).count()).toBe(3);
      await page.getByText("Only fills gaps").waitFor();
      await page.getByText("Refill it once you've bought more.").waitFor();
      await settle(page);
      expect([window, ...(await brokenRules(page))]).toEqual([window]);
      expect([window, ...(await smallTargets(page, pixels))]).toEqual([window]);
      expect([window, ...(await overflowAt(page))]).toEqual([window, 0, 0, 0, 0]);
      await page.getByRole("button", { name: "Edit Filling" }).click();
      await page.getByLabel("Reset day").waitFor();
      await settle(page);
      expect([window, ...(await brokenRules(page))]).toEqual([window]);
      await page.context().close();
    }
  }, 240_000);

  it("are set in the form, refilled and counted from zero", async () => {
    const page = await openPage(browser, server, { cookie, ...windows.desktop });
    await page.goto("settings/providers");
    await page.getByRole("button", { name: "Edit Free of caps" }).click();
    await page.getByLabel("Data cap", { exact: true }).selectOption("block");
    await page.getByLabel("Size", { exact: true }).fill("none");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Enter a size in GB, such as 500.").waitFor();
    await page.getByLabel("Size", { exact: true }).fill("500");
    await page.getByLabel("Used so far").fill("499.9999");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("500 GB of 500 GB used", { exact: false }).waitFor();

    await page.getByRole("button", { name: "Actions for Free of caps" }).click();
    await page.getByRole("menuitem", { name: "Refill" }).click();
    await page.getByLabel("Added").fill("250");
    await page.getByRole("button", { name: "Refill", exact: true }).click();
    await page.getByText("500 GB of 750 GB used, 250 GB left").waitFor();

    await page.getByRole("button", { name: "Actions for Free of caps" }).click();
    await page.getByRole("menuitem", { name: "Count from zero" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Count from zero" }).click();
    await page.getByText("0 bytes of 500 GB used, 500 GB left").waitFor();
    await page.context().close();
  }, 120_000);
});

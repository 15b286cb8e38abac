import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, overflowAt, settle, smallTargets } from "./checks";
import { type RunningServer, account, logIn, openPage, setUp, startBrowser, startServer, windows } from "./harness";

const patienceMs = 15_000;

let server: RunningServer;
let browser: Browser;
let cookie: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer({ environment: { SLUICE_CONFIG__RCLONE__MOUNT_DIR: "/films" } }), startBrowser()]);
  cookie = await setUp(server);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function open(window: keyof typeof windows, colorScheme: "dark" | "light"): Promise<Page & { errors: string[] }> {
  const page = await openPage(browser, server, { cookie, colorScheme, ...windows[window] });
  page.setDefaultTimeout(patienceMs);
  return page;
}

/** The console also reports refused requests, which the pages show themselves. */
const isLoad = (error: string) => error.startsWith("Failed to load resource");

describe("the settings", () => {
  it("are accessible, fit the window and have large targets in each group", async () => {
    for (const [window, scheme, pixels] of [["desktop", "light", 24], ["phone", "dark", 44]] as const) {
      const page = await open(window, scheme);
      const groups = page.getByRole("navigation", { name: "Settings groups" });
      await page.goto("settings");
      for (const group of ["", "/providers", "/streaming", "/library", "/download-client", "/arr", "/system", "/account"]) {
        await groups.locator(`a[href$="/settings${group}"]`).click();
        await groups.locator(`a[href$="/settings${group}"][aria-current=page]`).waitFor();
        await settle(page);
        expect([group, ...(await brokenRules(page))]).toEqual([group]);
        expect([group, ...(await smallTargets(page, pixels))]).toEqual([group]);
        expect([group, ...(await overflowAt(page))]).toEqual([group, 0, 0, 0, 0]);
        await page.setViewportSize(windows[window].viewport);
      }
      expect(page.errors.filter((error) => !isLoad(error))).toEqual([]);
      await page.context().close();
    }
  }, 240_000);

  it("offer a support bundle in each window and theme", async () => {
    for (const [window, scheme, pixels] of [["desktop", "dark", 24], ["phone", "light", 44]] as const) {
      const page = await open(window, scheme);
      await page.goto("settings/system");
      const link = page.getByRole("link", { name: "Download support bundle" });
      const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
      expect(download.suggestedFilename()).toMatch(/^sluice-support-[0-9-]+\.zip$/);
      expect(await download.failure()).toBeNull();
      await settle(page);
      expect([window, ...(await brokenRules(page))]).toEqual([window]);
      expect([window, ...(await smallTargets(page, pixels))]).toEqual([window]);
      expect([window, ...(await overflowAt(page))]).toEqual([window, 0, 0, 0, 0]);
      await page.context().close();
    }
  });

  it("save changes after a review, and undo a reset", async () => {
    const page = await open("desktop", "dark");
    await page.goto("settings/streaming");
    await page.getByRole("spinbutton", { name: "Read-ahead" }).fill("64");
    await page.getByRole("button", { name: "Review and save" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("64 MiB").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Reset Read-ahead" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Reset Read-ahead" }).waitFor();
    await page.reload();
    expect(await page.getByRole("spinbutton", { name: "Read-ahead" }).inputValue()).toBe("64");
    await page.context().close();
  });

  it("say which variable locks a value", async () => {
    const page = await open("desktop", "dark");
    await page.goto("settings/library");
    await page.getByText("SLUICE_CONFIG__RCLONE__MOUNT_DIR").waitFor();
    expect(await page.getByLabel("Mount folder").isDisabled()).toBe(true);
    await page.context().close();
  });

  it("are found by Ctrl-K with the keyboard only", async () => {
    const page = await open("desktop", "light");
    await page.goto("settings/account");
    await page.getByRole("heading", { name: "API keys for scripts" }).waitFor();
    await page.keyboard.press("Control+k");
    // Typed at once: the dialog is loaded on first use and must keep what is typed meanwhile.
    await page.keyboard.type("read ahead");
    await page.getByRole("option", { name: /^Read-ahead/ }).waitFor();
    expect(await page.getByRole("combobox").inputValue()).toBe("read ahead");
    expect(await brokenRules(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "usenet.read-ahead-mb");
    await page.getByRole("spinbutton", { name: "Read-ahead" }).waitFor();
    expect(page.errors).toEqual([]);
    await page.context().close();
  });

  it("log out another browser", async () => {
    const other = await logIn(server);
    const page = await open("desktop", "light");
    await page.goto("settings/account");
    await page.getByRole("button", { name: /^Log out .+ at 127\.0\.0\.1$/ }).click();
    const dialog = page.getByRole("dialog");
    expect(await brokenRules(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Log out" }).click();
    await page.getByText(/^Logged out /).first().waitFor();
    expect((await fetch(`${server.url}/api/session`, { headers: { Cookie: other } })).status).toBe(401);
    expect((await fetch(`${server.url}/api/session`, { headers: { Cookie: cookie } })).status).toBe(200);
    expect(page.errors).toEqual([]);
    await page.context().close();
  });

  it("ask for the password again before they create a key with full access", async () => {
    // After a restart no session counts as having entered the password recently.
    await server.restart();
    const page = await open("phone", "dark");
    await page.goto("settings/account");
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("backup");
    await dialog.getByRole("combobox", { name: "Access" }).selectOption("full");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByLabel("Your password").fill(account.password);
    expect(await brokenRules(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("Copy it now; it won't be shown again.").waitFor();
    expect(page.errors.filter((error) => !isLoad(error))).toEqual([]);
    await page.context().close();
  });
});

import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, overflowAt, settle, smallTargets } from "./checks";
import { type RunningServer, openPage, setUp, startBrowser, startServer, windows } from "./harness";

let second: string;
let server: RunningServer;
let browser: Browser;
let cookie: string;

beforeAll(async () => {
  second = await mkdtemp(path.join(tmpdir(), "sluice-second-"));
  [server, browser] = await Promise.all([startServer({ environment: { SLUICE_CONFIG__BACKUP__SECOND_DIR: second } }), startBrowser()]);
  cookie = await setUp(server);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(second, { recursive: true, force: true });
});

const looks = [["desktop", "light", 24], ["phone", "dark", 44], ["desktop", "dark", 24], ["phone", "light", 44]] as const;

/** Opens a page in each window and theme, waits for a text, and checks the page. */
async function look(address: string, text: RegExp): Promise<void> {
  for (const [window, colorScheme, pixels] of looks) {
    const page = await openPage(browser, server, { cookie, colorScheme, ...windows[window] });
    await page.goto(address);
    await page.getByText(text).first().waitFor();
    await settle(page);
    expect([window, ...(await brokenRules(page))]).toEqual([window]);
    expect([window, ...(await smallTargets(page, pixels))]).toEqual([window]);
    expect([window, ...(await overflowAt(page))]).toEqual([window, 0, 0, 0, 0]);
    await page.context().close();
  }
}

async function backUp(page: Page, text: RegExp): Promise<void> {
  await page.getByRole("button", { name: "Back up now" }).click();
  await page.getByText(text).first().waitFor();
}

describe("the backups", () => {
  it("show the second folder while it is empty, complete and missing", async () => {
    const page = await openPage(browser, server, { cookie, ...windows.desktop });
    await page.goto("settings/backups");
    await look("settings/backups", /^No copies yet/);

    await backUp(page, /^1 backup from/);
    await look("settings/backups", /^1 backup from/);
    // Both folders are on one disk here.
    await page.getByText(/on the same disk as the data folder/).waitFor();

    await rename(second, `${second}-away`);
    try {
      await backUp(page, /could not be copied to the second folder: the folder does not exist/);
      await look("settings/backups", /could not be copied to the second folder/);
      await look("./", /could not be copied to the second folder/);
    } finally {
      await rename(`${second}-away`, second);
    }

    await backUp(page, /^2 backups, the newest from/);
    await page.context().close();
  }, 240_000);

  it("can be downloaded as one file", async () => {
    const page = await openPage(browser, server, { cookie, ...windows.desktop });
    await page.goto("settings/backups");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: /^Download the backup/ }).first().click()]);
    expect(download.suggestedFilename()).toMatch(/^sluice-.*\.tar$/);
    expect(await download.failure()).toBeNull();
    await page.context().close();
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { brokenRules, overflowAt, smallTargets } from "./checks";
import { openPage, startBrowser } from "./harness";
import { type World, call, startWorld } from "./world";

interface Files {
  items: { name: string; path: string; filmId: string | null }[];
}

let world: World;
let browser: Browser;
let page: Page & { errors: string[] };

/** A row disappears with the click, and appears again with the event, so the list of the server may follow later. */
const patient = { timeout: 30_000 };

const movies = () => call<Files>(world.server, world.cookie, "GET", "files?path=movies");

beforeAll(async () => {
  [world, browser] = await Promise.all([startWorld(["main"]), startBrowser()]);
  for (const [seed, name] of ["Harbour.Lights.2024.1080p", "Second.Film.2023.720p", "Third.Film.2022.720p"].entries()) await world.add(name, await world.nzb(70 + seed), "movies");
  await world.untilHistory(3);
  page = await openPage(browser, world.server, { cookie: world.cookie });
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

describe("deleting films", () => {
  it("shows what goes, deletes several at once, and undoes it from the toast", async () => {
    const before = await movies();
    await page.goto("files/movies");
    await page.getByRole("checkbox", { name: /^Select Harbour/ }).click();
    await page.getByRole("checkbox", { name: /^Select Second/ }).click();
    await page.getByRole("region", { name: "Selected rows" }).getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete 2 items?" });
    await dialog.getByText("You can restore everything for 7 days in Files › Removed.").waitFor();
    expect(await brokenRules(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText(/^\d+ files deleted$/).waitFor();
    await page.getByRole("link", { name: /Harbour/ }).waitFor({ state: "detached" });
    await expect.poll(async () => (await movies()).items.map(({ name }) => name), patient).toEqual(["Third.Film.2022.720p"]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: /Harbour/ }).first().waitFor();
    await expect.poll(movies, patient).toMatchObject({ items: before.items.map(({ path, filmId }) => ({ path, filmId })) });
  });

  it("brings a film back from the list of removed files", async () => {
    await page.goto("files/movies");
    await page.getByRole("button", { name: /^Actions for Second/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name: /Second/ }).waitFor({ state: "detached" });
    await page.goto("files");
    await page.getByRole("link", { name: "Removed" }).click();
    await page.getByText(/· Second\.Film\.2023\.720p/).first().waitFor();
    expect(await brokenRules(page)).toEqual([]);
    expect(await overflowAt(page)).toEqual([0, 0, 0, 0]);
    expect(await smallTargets(page)).toEqual([]);
    await page.getByRole("checkbox", { name: /^Select Second/ }).click();
    await page.getByRole("region", { name: "Selected rows" }).getByRole("button", { name: "Restore" }).click();
    await page.getByText("Nothing to restore").waitFor();
    await expect.poll(async () => (await movies()).items, patient).toHaveLength(3);
  });

  it("removes an import of the history with its files", async () => {
    await page.goto("history");
    await page.getByRole("button", { name: /^Actions for Third/ }).click();
    await page.getByRole("menuitem", { name: "Remove with files" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove with files" }).click();
    await page.getByRole("link", { name: "Third.Film.2022.720p" }).waitFor({ state: "detached" });
    await expect.poll(async () => (await movies()).items, patient).toHaveLength(2);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "Third.Film.2022.720p" }).waitFor();
    await expect.poll(async () => (await movies()).items, patient).toHaveLength(3);
    expect(page.errors).toEqual([]);
  });
});

import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, startBrowser } from "./harness";
import { type World, startWorld } from "./world";

let world: World;
let browser: Browser;

beforeAll(async () => {
  [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

/** Sets which parts of every file the provider lacks, for example `2-64`. */
async function miss(parts: string): Promise<void> {
  const answer = await fetch(`http://${world.mock.control}/set?missing=${parts}`, { method: "POST" });
  expect(answer.ok).toBe(true);
}

/** Opens the history with the details of an import. */
async function openImport(name: string): Promise<{ page: Page & { errors: string[] }; sheet: Locator }> {
  const page = await openPage(browser, world.server, { cookie: world.cookie });
  page.setDefaultTimeout(20_000);
  await page.goto("history");
  await page.getByText(name, { exact: true }).click();
  return { page, sheet: page.getByRole("dialog", { name }) };
}

/** The row of an import once events have brought this result. */
const rowOf = (page: Page, name: string, result: string) => page.locator("tr[data-row]").filter({ hasText: name }).filter({ hasText: result });

async function tryOtherwise(page: Page, sheet: Locator, ways: readonly string[], chosen: string): Promise<void> {
  await sheet.getByRole("button", { name: "More ways to retry" }).click();
  const items = page.getByRole("menuitem");
  await items.first().waitFor();
  expect(await items.allTextContents()).toEqual(ways);
  await items.filter({ hasText: chosen }).click();
  await sheet.waitFor({ state: "detached" });
}

const anew = "Retry on all providers";
const whatever = "Retry and accept gaps";

describe("an import that failed because articles are missing", () => {
  it("is published with gaps on request", async () => {
    const name = "Holes.2026.1080p";
    // All but the first and last part: the file can be identified, and the sample finds the rest missing.
    await miss("2-64");
    await world.add(name, await world.nzb(5, { size: 45 }), "movies");
    await world.untilHistory(1);
    const { page, sheet } = await openImport(name);
    await sheet.getByRole("heading", { name: "Too many articles missing" }).waitFor();
    await tryOtherwise(page, sheet, [anew, whatever], whatever);
    await rowOf(page, name, "Plays with gaps").click();
    await sheet.getByRole("link", { name: "Open files" }).click();
    await page.waitForURL(`**/files/movies/${name}`);
    await page.getByRole("link", { name: "film.mkv", exact: true }).waitFor();
    await page.goto("");
    await page.getByText(/^Holes.* plays with gaps$/).waitFor();
    expect(page.errors).toEqual([]);
    await page.context().close();
  });

  it("succeeds if all providers are asked again, which a plain retry does not do", async () => {
    const name = "Late.2026.1080p";
    await miss("1.0");
    await world.add(name, await world.nzb(6), "movies");
    await world.untilHistory(2);
    await miss("0");
    const { page, sheet } = await openImport(name);
    await sheet.getByRole("heading", { name: "Post is gone" }).waitFor();
    await sheet.getByRole("button", { name: "Retry" }).first().click();
    await sheet.waitFor({ state: "detached" });
    await rowOf(page, name, "Post is gone").click();
    await tryOtherwise(page, sheet, [anew], anew);
    await rowOf(page, name, "Completed").waitFor();
    expect(page.errors).toEqual([]);
    await page.context().close();
  });
});

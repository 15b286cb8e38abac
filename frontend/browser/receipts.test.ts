import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenRules, overflowAt, settle, smallTargets } from "./checks";
import { openPage, startBrowser, windows } from "./harness";
import { type World, call, onServer, startWorld } from "./world";

const release = "Harbour.Lights.2024.1080p";
const where = "streams/receipts";

let world: World;
let browser: Browser;

beforeAll(async () => {
  [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

/** Opens the receipts in a light window and on a dark phone, and checks how they look there. */
async function look(shows: string): Promise<void> {
  for (const [window, colorScheme] of [["desktop", "light"], ["desktop", "dark"], ["phone", "light"], ["phone", "dark"]] as const) {
    const page = await openPage(browser, world.server, { cookie: world.cookie, colorScheme, ...windows[window] });
    await page.goto(where);
    await page.getByText(shows).first().waitFor();
    await settle(page);
    expect([window, colorScheme, ...(await brokenRules(page))]).toEqual([window, colorScheme]);
    expect([window, ...(await smallTargets(page, window === "phone" ? 44 : 24))]).toEqual([window]);
    expect(await overflowAt(page)).toEqual([0, 0, 0, 0]);
    await page.context().close();
  }
}

/** Reads a range of a file like a player. */
async function read(id: string, player: string, range: string): Promise<void> {
  const { links } = await call<{ links: { signed: string } }>(world.server, world.cookie, "GET", `files/${id}`);
  const answer = await fetch(onServer(world.server, links.signed), { headers: { "User-Agent": player, Range: `bytes=${range}` } });
  expect(answer.ok).toBe(true);
  await answer.arrayBuffer();
}

describe("the receipts", () => {
  it("say on a new server how the first one is made", async () => {
    await look("No receipts yet");
  });

  it("say that they can't be loaded, and load when asked again", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    const failure = { type: "unavailable", title: "The database can't be read right now.", status: 503 };
    await page.route("**/api/receipts?*", (route) => route.fulfill({ status: 503, contentType: "application/problem+json", json: failure }));
    await page.goto(where);
    await page.getByText(failure.title).waitFor();
    expect(await brokenRules(page)).toEqual([]);
    await page.unroute("**/api/receipts?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("No receipts yet").waitFor();
    await page.context().close();
  });

  it("show after a restart who watched what, and from which provider", async () => {
    await world.add(release, await world.nzb(1, { size: 40 }), "movies");
    await world.untilHistory(1);
    const { items } = await call<{ items: { id: string }[] }>(world.server, world.cookie, "GET", `files?path=movies/${release}`);
    const film = items[0]?.id ?? "";
    await read(film, "VLC/3.0.20 LibVLC/3.0.20", "0-9999999");
    await read(film, "Scanner/1.0", "20000000-20065535");
    // A server that stops saves all receipts.
    await world.server.restart();

    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("");
    await page.getByRole("link", { name: "Receipts" }).click();
    const rows = page.locator("tr[data-row]");
    await rows.filter({ hasText: "Library scan of 1 file" }).filter({ hasText: "Scanner 1.0" }).waitFor();
    const row = rows.filter({ hasText: "Harbour Lights" });
    expect(await row.textContent()).toContain("VLC 3.0");
    expect(await row.textContent()).toContain("None");
    await page.getByRole("region", { name: "Providers" }).getByText("Main").waitFor();
    await page.getByRole("region", { name: "Providers" }).getByText(/1 playback · .+ by library scans/).waitFor();
    await row.click();
    const sheet = page.getByRole("dialog", { name: "Harbour Lights" });
    await sheet.getByText("From Main").waitFor();
    expect(await brokenRules(page)).toEqual([]);
    await sheet.getByRole("link", { name: "Show file" }).click();
    await page.waitForURL(`**/files/movies/${release}?file=${film}`);
    expect(page.errors).toEqual([]);
    await page.context().close();
    await look("Harbour Lights");
  });

  it("show one month, and keep it in the address", async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto(`${where}?month=2020-01`);
    await page.getByText("No receipts in this month").waitFor();
    expect(await brokenRules(page)).toEqual([]);
    await page.getByRole("combobox", { name: "Month" }).selectOption({ index: 1 });
    await page.locator("tr[data-row]").filter({ hasText: "Harbour Lights" }).waitFor();
    expect(new URL(page.url()).searchParams.get("month")).toMatch(/^20\d\d-\d\d$/);
    await page.context().close();
  });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openPage, startBrowser } from "../harness";
import { type World, call, deadNzb, startWorld } from "../world";
import { note, rounds } from "./table";

const restarts = 5;

let world: World;
let browser: Browser;

/** Returns when a text appears on the page, by the clock of this machine. */
async function seenAt(page: Page, text: string): Promise<number> {
  return page.evaluate(
    (wanted) =>
      new Promise<number>((done) => {
        const look = () => (document.body.textContent.includes(wanted) ? done(Date.now()) : requestAnimationFrame(look));
        look();
      }),
    text,
  );
}

describe("changes", () => {
  beforeAll(async () => {
    [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
    await call(world.server, world.cookie, "POST", "queue/pause", {});
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  it.each([["Seen", "queue"], ["Sorted", "queue?q=sorted+2026&category=movies&sort=name"]])("measures how soon %s appears on %s", { timeout: 120_000 }, async (word, where) => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto(where);
    await page.getByRole("heading", { name: "Queue" }).first().waitFor();
    await page.getByRole("searchbox").first().waitFor();
    await page.waitForTimeout(1_000);
    const waits: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const name = `${word}.${round}.2026`;
      const seen = seenAt(page, name);
      await world.add(name, deadNzb, "movies");
      const answered = Date.now();
      waits.push(Math.max(0, (await seen) - answered));
    }
    note(`answer to an add until its row is there, ${where.includes("?") ? "with a filter" : "without a filter"}`, waits, "ms", { goal: "12", of: "p95", most: 300 });
    await page.context().close();
  });

  it("measures how soon a page requested during a restart opens", { timeout: 120_000 }, async () => {
    const waits: number[] = [];
    for (let round = 0; round < restarts; round++) {
      const page = await openPage(browser, world.server, { cookie: world.cookie });
      await page.goto("queue");
      await page.getByRole("searchbox").first().waitFor();
      await world.server.restart({ meanwhile: () => page.getByRole("link", { name: "Settings", exact: true }).first().click() });
      const answers = Date.now();
      await page.locator("h1", { hasText: /^Settings$/ }).waitFor();
      waits.push(Date.now() - answers);
      await page.context().close();
    }
    note("first answer after a restart until the page is there that was asked for meanwhile", waits, "ms", { goal: "12", of: "p95", most: 3_000 });
  });

  it("measures how soon a page is up to date after a restart", { timeout: 120_000 }, async () => {
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    await page.goto("queue?q=after");
    await page.getByRole("searchbox").first().waitFor();
    await page.waitForTimeout(1_000);
    const waits: number[] = [];
    for (let round = 0; round < restarts; round++) {
      await world.server.restart();
      const answers = Date.now();
      const name = `After.${round}.2026`;
      const seen = seenAt(page, name);
      await world.add(name, deadNzb, "movies");
      waits.push((await seen) - answers);
    }
    const shown = await page.getByText(/After\.\d\.2026/).allTextContents();
    note("first answer after a restart until the page has the next row", waits, "ms", { goal: "12", of: "p95", most: 3_000 });
    note("rows that are lost over all of them", [restarts - new Set(shown).size], "rows", { goal: "12", most: 0 });
    await page.context().close();
  });
});

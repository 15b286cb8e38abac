import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openPage, startBrowser } from "../harness";
import { type World, call, startWorld } from "../world";
import { note, rounds } from "./table";

const tries = 9;
const scrolledMs = 4_000;

let world: World;
let browser: Browser;

/** Acts on the page and returns the milliseconds until a row with the text has been painted. */
async function untilRow(page: Page, text: string, act: () => Promise<void>): Promise<number> {
  await page.evaluate((wanted) => {
    const seen = new Promise<number>((done) => {
      let began = 0;
      // Starts at the event itself, not when Playwright begins to send it.
      for (const name of ["click", "input"]) addEventListener(name, () => (began ||= performance.now()), { capture: true, once: true });
      const look = () => {
        const row = began > 0 && [...document.querySelectorAll("tr[data-row], li[data-index]")].some((one) => one.textContent.includes(wanted));
        if (row) setTimeout(() => done(performance.now() - began));
        else requestAnimationFrame(look);
      };
      look();
    });
    Object.assign(window, { seen });
  }, text);
  await act();
  return page.evaluate(() => (window as unknown as { seen: Promise<number> }).seen);
}

/** Scrolls down without pause and returns the frames per second. */
async function framesOf(page: Page): Promise<number> {
  return page.evaluate(
    (ms) =>
      new Promise<number>((done) => {
        const began = performance.now();
        let frames = 0;
        const step = (now: number) => {
          if (now - began >= ms) return done((frames * 1_000) / (now - began));
          frames += 1;
          scrollBy(0, 40);
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
    scrolledMs,
  );
}

const lists = [
  { name: "queue of 10,000", link: "Queue", folder: null, row: "Next.The.Show", query: "S042E17", found: "S042E17" },
  { name: "history of 100,000", link: "History", folder: null, row: "The.Show", query: "S777E77", found: "S777E77" },
  { name: "50,000 files", link: "Files", folder: "tv", row: "The.Series", query: "S042E17 part 03", found: "S042E17" },
] as const;

describe("long lists", () => {
  beforeAll(async () => {
    [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
    await world.add("Sluice.Clip.2026.720p", world.clip, "tv");
    await world.untilHistory(1);
    await call(world.server, world.cookie, "POST", "queue/pause", {});
    await world.server.restart({
      meanwhile: async (data) => void (await promisify(execFile)("python3", [path.join(import.meta.dirname, "fill.py"), path.join(data, "sluice.db")])),
    });
    // Waits for the database check that follows a start.
    await new Promise((done) => setTimeout(done, 8_000));
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  it("measures the answer for Home", async () => {
    const [times, sizes]: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round++) {
      const began = performance.now();
      const answer = await fetch(`${world.server.url}/api/home`, { headers: { Cookie: world.cookie } });
      sizes.push((await answer.arrayBuffer()).byteLength / 1_000);
      times.push(performance.now() - began);
    }
    note("GET /api/home beside these lists", times.slice(1), "ms", { goal: "", most: 20 });
    note("bytes of GET /api/home", sizes, "KB", { goal: "", most: 8 });
  });

  it.each(lists)("measures the $name", { timeout: 120_000 }, async ({ name, link, folder, row, query, found }) => {
    const rows: number[] = [];
    const filters: number[] = [];
    const page = await openPage(browser, world.server, { cookie: world.cookie, reducedMotion: "no-preference" });
    page.setDefaultTimeout(20_000);
    const open = async (press: () => Promise<void>) => {
      if (folder === null) return press();
      await page.getByRole("link", { name: link, exact: true }).first().click();
      await page.getByRole("link", { name: folder, exact: true }).first().waitFor();
      await page.getByRole("link", { name: folder, exact: true }).first().click();
    };
    for (let round = 0; round < tries; round++) {
      await page.goto("");
      await page.getByText("Recently added").waitFor();
      // The first visit loads the parts of the page, so it is not measured.
      if (round === 0) {
        await open(() => page.getByRole("link", { name: link, exact: true }).first().click());
        await page.getByText(row).first().waitFor();
        await page.goto("");
        await page.getByText("Recently added").waitFor();
      }
      if (folder !== null) {
        await page.getByRole("link", { name: link, exact: true }).first().click();
        await page.getByRole("link", { name: folder, exact: true }).first().waitFor();
      }
      const target = page.getByRole("link", { name: folder ?? link, exact: true }).first();
      rows.push(await untilRow(page, row, () => target.click()));
      const field = page.getByRole("searchbox").first();
      // Empties the list, so that the awaited row is not there already.
      await field.fill("no row has this");
      await page.waitForTimeout(1_000);
      filters.push(await untilRow(page, found, () => field.fill(query)));
    }
    note(`first rows, ${name}`, rows, "ms", { goal: "13", most: 300 });
    note(`words in the search until their rows, ${name}`, filters, "ms", { goal: "13", most: 150 });
    await page.goto("");
    await open(() => page.getByRole("link", { name: link, exact: true }).first().click());
    await page.getByText(row).first().waitFor();
    note(`frames each second while it is scrolled, ${name}`, [await framesOf(page)], "fps", { goal: "13", least: 50 });
    await page.context().close();
  });
});

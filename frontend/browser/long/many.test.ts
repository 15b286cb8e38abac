import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, startBrowser } from "../harness";
import { type World, call, startWorld } from "../world";

const count = 500;
/** Indexes of a damaged archive and of two files that are not NZBs. */
const broken = new Set([7, 250, 499]);

let world: World;
let browser: Browser;

beforeAll(async () => {
  [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"])]);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

describe("five hundred NZBs in one drop", () => {
  it("arrive despite a restart of the server, and the toast lists the three broken ones", async () => {
    const nzb = await world.nzb(1, { size: 2 });
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    page.setDefaultTimeout(30_000);
    await page.goto("queue");
    await page.getByText("The queue is empty").waitFor();
    await page.mouse.move(300, 300);
    const transfer = await page.evaluateHandle(
      ([text, all, bad]) => {
        const data = new DataTransfer();
        for (let at = 0; at < all; at++) data.items.add(new File([bad.includes(at) ? (at === 7 ? "PK\u0003\u0004 damaged" : "no NZB") : text], `Film.${at}.nzb`));
        return data;
      },
      [nzb, count, [...broken]] as const,
    );
    const heading = page.getByRole("heading", { name: "Queue", level: 1 });
    await expect
      .poll(async () => {
        await heading.dispatchEvent("dragover", { dataTransfer: transfer });
        return page.getByText("Drop NZBs or folders to queue them").isVisible();
      })
      .toBe(true);
    await heading.dispatchEvent("drop", { dataTransfer: transfer });
    await page.getByText(/^Uploading 4\d\d files/).waitFor();
    await world.server.restart();
    await page.getByText(`${count - broken.size} queued, ${broken.size} rejected`).waitFor();
    await page.getByRole("button", { name: "Show reasons" }).click();
    const reasons = page.getByRole("dialog").getByRole("listitem");
    await reasons.nth(broken.size - 1).waitFor();
    const told = (await reasons.allTextContents()).sort();
    expect(told.map((text) => /Film\.(\d+)/.exec(text)?.[1])).toEqual(["250", "499", "7"]);

    // A file that does not begin like an NZB is not sent. The damaged archive is sent, and fails.
    await world.untilHistory(count - broken.size + 1);
    const total = async (result: string) => (await call<{ total: number }>(world.server, world.cookie, "GET", `history?limit=1&result=${result}`)).total;
    expect([await total("completed"), await total("failed")]).toEqual([count - broken.size, 1]);
    // The list has followed all changes.
    await page.keyboard.press("Escape");
    await page.getByText("The queue is empty").waitFor();
    await page.context().close();
  });
}, 400_000);

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, startBrowser } from "../harness";
import { type World, call, startWorld } from "../world";

const count = 500;
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
  it("arrive over a restart of the server, and the toast tells the three that are broken", async () => {
    const nzb = await world.nzb(1, { size: 2 });
    const page = await openPage(browser, world.server, { cookie: world.cookie });
    page.setDefaultTimeout(240_000);
    await page.goto("queue");
    await page.mouse.move(300, 300);
    await page.getByText("Nothing is queued").waitFor();
    const transfer = await page.evaluateHandle(
      ([text, all, bad]) => {
        const data = new DataTransfer();
        for (let at = 0; at < all; at++) data.items.add(new File([bad.includes(at) ? "no NZB" : text], `Film.${at}.nzb`));
        return data;
      },
      [nzb, count, [...broken]] as const,
    );
    await page.getByRole("heading", { name: "Queue", level: 1 }).dispatchEvent("drop", { dataTransfer: transfer });
    await page.getByText(/^Sending 4\d\d files/).waitFor();
    await world.server.restart();
    await page.getByText(`${count - broken.size} queued, ${broken.size} refused`).waitFor();
    await page.getByRole("button", { name: "Reasons" }).click();
    const reasons = page.getByRole("dialog").getByRole("listitem");
    expect(await reasons.count()).toBe(broken.size);
    expect(await reasons.allTextContents()).toEqual([...broken].map((at) => expect.stringContaining(`Film.${at}`)));

    await world.untilHistory(count);
    const total = async (result: string) => (await call<{ total: number }>(world.server, world.cookie, "GET", `history?limit=1&result=${result}`)).total;
    expect([await total("completed"), await total("failed")]).toEqual([count - broken.size, broken.size]);
    // The list of the page followed all of it.
    await page.keyboard.press("Escape");
    await page.getByText("Nothing is queued").waitFor();
    await page.context().close();
  });
}, 400_000);

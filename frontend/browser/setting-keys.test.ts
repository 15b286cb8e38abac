import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startArr } from "./arr-replica";
import { type RunningServer, openPage, setUp, startBrowser, startServer } from "./harness";
import {
  type SettingField, type SettingValue, controlOf, edited, enter, enterWrong, otherOf, rowOf, save, textOf,
} from "./setting-form";
import { call } from "./world";

/** The console also reports refused requests, which the pages show themselves. */
const isLoad = (error: string) => error.startsWith("Failed to load resource");

describe("each setting", () => {
  let folder: string;
  let browser: Browser;
  let server: RunningServer;
  let cookie: string;
  let page: Page & { errors: string[] };
  let fields: SettingField[];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sluice-settings-"));
    browser = await startBrowser();
    await start();
    ({ items: fields } = await ask<{ items: SettingField[] }>("settings/schema"));
  });

  afterAll(async () => {
    await stop();
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(options: Parameters<typeof startServer>[0] = {}): Promise<void> {
    server = await startServer(options);
    cookie = await setUp(server);
    page = await openPage(browser, server, { cookie });
    page.setDefaultTimeout(15_000);
  }

  async function stop(): Promise<void> {
    await page.context().close();
    await server.stop();
    expect(page.errors.filter((error) => !isLoad(error))).toEqual([]);
  }

  async function ask<Answer>(where: string): Promise<Answer> {
    return call<Answer>(server, cookie, "GET", where);
  }

  async function values(): Promise<Map<string, SettingValue>> {
    return new Map((await ask<{ items: SettingValue[] }>("settings")).items.map((value) => [value.key, value]));
  }

  async function eachGroup(use: (plain: SettingField[], whole: SettingField[]) => Promise<void>): Promise<void> {
    for (const group of new Set(fields.map((field) => field.group))) {
      const whole = fields.filter((field) => field.group === group);
      await page.goto(`settings/${group}`);
      await Promise.all(whole.map((field) => rowOf(page, field.key).waitFor()));
      await use(whole.filter((field) => !(field.key in edited)), whole);
    }
  }

  it("is saved by its control, shows the change, and explains a wrong value", async () => {
    const seen = new Set<string>();
    await eachGroup(async (plain) => {
      if (plain.length === 0) return;
      const before = await values();
      await enterWrong(page, plain);
      expect(await values()).toEqual(before);

      const others = new Map(plain.map((field) => [field, otherOf(field, before.get(field.key)?.value ?? "", folder)]));
      for (const [field, draft] of others) await enter(page, field, draft);
      await save(page);
      await page.getByRole("button", { name: "Review and save" }).waitFor({ state: "detached" });
      const [after, { items: sets }] = [await values(), await ask<{ items: { keys: string[] }[] }>("settings/sets")];
      for (const [field, draft] of others) {
        const shown = field.secret ? null : textOf(field, draft);
        expect(after.get(field.key)).toMatchObject({ key: field.key, value: shown, source: "saved", isSet: true });
        seen.add(field.key);
      }
      await Promise.all(plain.map((field) => rowOf(page, field.key).getByText(field.secret ? "Saved here" : "Changed", { exact: true }).waitFor()));
      // For secrets, only the set shows the change. Sets leave out keys that clients set, and a password that a restore would bring back.
      const inNone = ["queue.paused", "queue.speed-limit-kbps", "queue.speed-limit-percent", "webdav.pass"];
      expect(sets[0]?.keys.toSorted()).toEqual(plain.map((field) => field.key).filter((key) => !inNone.includes(key)).toSorted());
    });
    expect([...seen, ...Object.keys(edited)].toSorted()).toEqual(fields.map((field) => field.key).toSorted());
  });

  it("with an editor of its own can be saved through it", async () => {
    const arr = await startArr(folder);
    const dialog = page.getByRole("dialog");
    const sentence = dialog.locator('[id$="-error"]');

    await page.goto("settings/providers");
    await rowOf(page, "usenet.providers").getByRole("button", { name: "Add a provider" }).click();
    await dialog.getByLabel("Server").fill("two words");
    await dialog.getByRole("button", { name: "Save" }).click();
    await sentence.waitFor();
    expect((await values()).get("usenet.providers")).toMatchObject({ source: "default" });
    await dialog.getByLabel("Server").fill("127.0.0.1");
    await dialog.getByText("Port, encryption and more").click();
    await dialog.getByLabel("Use TLS").uncheck();
    await dialog.getByLabel("Role").selectOption("disabled");
    await dialog.getByRole("button", { name: "Save" }).click();
    await rowOf(page, "usenet.providers").getByText("127.0.0.1:119").waitFor();
    expect((await values()).get("usenet.providers")).toMatchObject({ source: "saved", isSet: true });
    expect((await ask<{ items: object[] }>("providers")).items).toMatchObject([{ host: "127.0.0.1", port: 119, tls: false, use: "disabled" }]);

    await page.goto("settings/arr");
    await rowOf(page, "arr.instances").getByRole("button", { name: "Connect an app" }).click();
    await dialog.getByLabel("Sonarr address").fill("sonarr");
    await dialog.getByLabel("Sonarr API key").fill(arr.key);
    await dialog.getByRole("button", { name: "Add to Sonarr" }).click();
    await sentence.waitFor();
    expect((await values()).get("arr.instances")).toMatchObject({ source: "default" });
    await dialog.getByLabel("Sonarr address").fill(arr.url);
    await dialog.getByRole("button", { name: "Add to Sonarr" }).click();
    await dialog.getByText(/Sonarr is connected/).waitFor();
    expect((await values()).get("arr.instances")).toMatchObject({ source: "saved", isSet: true });
    expect((await ask<{ items: object[] }>("arr")).items).toMatchObject([{ kind: "sonarr", url: arr.url }]);
    await arr.stop();
  });

  it("set by the environment is locked and names its variable", async () => {
    const environment = Object.fromEntries(
      fields.map((field) => [field.overrideName, edited[field.key] ?? textOf(field, otherOf(field, field.default, folder))]),
    );
    await stop();
    await start({ urlBase: "/base", environment });
    await eachGroup(async (plain, whole) => {
      await Promise.all(whole.map((field) => rowOf(page, field.key).getByText(field.overrideName).waitFor()));
      const locked = await Promise.all(plain.map(async (field) => [field.key, await controlOf(page, field).isDisabled()]));
      expect(locked).toEqual(plain.map((field) => [field.key, true]));
      expect(await page.getByRole("button", { name: /^(Add a provider|Connect an app|Actions for 127)/ }).count()).toBe(0);
    });
    expect(new Set([...(await values()).values()].map((value) => value.source))).toEqual(new Set(["environment"]));
  });
});

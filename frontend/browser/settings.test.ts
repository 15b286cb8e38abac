import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startArr } from "./arr-replica";
import { brokenRules, overflowAt, smallTargets } from "./checks";
import { type RunningServer, openPage, setUp, startBrowser, startServer, windows } from "./harness";
import {
  type SettingField, type SettingValue, controlOf, edited, enter, enterWrong, otherOf, rowOf, save, textOf,
} from "./setting-form";
import { call } from "./world";

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

/** The console counts refused requests too, which the pages show by themselves. */
const isLoad = (error: string) => error.startsWith("Failed to load resource");

describe("the settings", () => {
  it("are without a broken rule, an overflow or a small target in each group", async () => {
    for (const [window, scheme, pixels] of [["desktop", "light", 24], ["phone", "dark", 44]] as const) {
      const page = await open(window, scheme);
      for (const group of ["", "/providers", "/streaming", "/library", "/download-client", "/arr", "/system", "/account"]) {
        await page.goto(`settings${group}`);
        await page.getByRole("navigation", { name: "Groups of settings" }).locator("a[aria-current=page]").waitFor();
        await page.waitForLoadState("load");
        expect([group, ...(await brokenRules(page))]).toEqual([group]);
        expect([group, ...(await smallTargets(page, pixels))]).toEqual([group]);
        expect([group, ...(await overflowAt(page))]).toEqual([group, 0, 0, 0, 0]);
        await page.setViewportSize(windows[window].viewport);
      }
      expect(page.errors.filter((error) => !isLoad(error))).toEqual([]);
      await page.context().close();
    }
  }, 240_000);

  it("save what was changed after showing it, and take it back", async () => {
    const page = await open("desktop", "dark");
    await page.goto("settings/streaming");
    await page.getByRole("spinbutton", { name: "Read ahead" }).fill("64");
    await page.getByRole("button", { name: "Review and save" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("64 MiB").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Reset Read ahead" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Reset Read ahead" }).waitFor();
    await page.reload();
    expect(await page.getByRole("spinbutton", { name: "Read ahead" }).inputValue()).toBe("64");
    await page.context().close();
  });

  it("say which variable locks a value", async () => {
    const page = await open("desktop", "dark");
    await page.goto("settings/library");
    await page.getByText("SLUICE_CONFIG__RCLONE__MOUNT_DIR").waitFor();
    expect(await page.getByLabel("Where the mount is").isDisabled()).toBe(true);
    await page.context().close();
  });

  it("are found by Ctrl-K and the keyboard alone", async () => {
    const page = await open("desktop", "light");
    await page.goto("settings/account");
    await page.getByRole("heading", { name: "Keys for scripts" }).waitFor();
    await page.keyboard.press("Control+k");
    // At once: the window that asks is loaded with its first use, and nothing of what is typed is lost.
    await page.keyboard.type("read ahead");
    await page.getByRole("option", { name: /^Read ahead/ }).waitFor();
    expect(await page.getByRole("combobox").inputValue()).toBe("read ahead");
    expect(await brokenRules(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "usenet.read-ahead-mb");
    await page.getByRole("spinbutton", { name: "Read ahead" }).waitFor();
    expect(page.errors).toEqual([]);
    await page.context().close();
  });
});

describe("each key", () => {
  let folder: string;
  let own: RunningServer;
  let access: string;
  let page: Page & { errors: string[] };
  let fields: SettingField[];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sluice-settings-"));
    ({ items: fields } = await call<{ items: SettingField[] }>(server, cookie, "GET", "settings/schema"));
    await startOwn();
  });

  afterAll(async () => {
    await stopOwn();
    await rm(folder, { recursive: true, force: true });
  });

  async function startOwn(options: Parameters<typeof startServer>[0] = {}): Promise<void> {
    own = await startServer(options);
    access = await setUp(own);
    page = await openPage(browser, own, { cookie: access });
    page.setDefaultTimeout(patienceMs);
  }

  async function stopOwn(): Promise<void> {
    await page.context().close();
    await own.stop();
    expect(page.errors.filter((error) => !isLoad(error))).toEqual([]);
  }

  async function ask<Answer>(where: string): Promise<Answer> {
    return call<Answer>(own, access, "GET", where);
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

  it("is set by its control, shows that, and says what is wrong with a wrong value", async () => {
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
      // What a set has changed is the proof for secrets. What clients set is in none.
      const states = ["queue.paused", "queue.speed-limit-kbps"];
      expect(sets[0]?.keys.toSorted()).toEqual(plain.map((field) => field.key).filter((key) => !states.includes(key)).toSorted());
    });
    expect([...seen, ...Object.keys(edited)].toSorted()).toEqual(fields.map((field) => field.key).toSorted());
  });

  it("with an editor of its own gets a row by it", async () => {
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
    await dialog.getByLabel("Encrypted (TLS)").uncheck();
    await dialog.getByLabel("Used for").selectOption("disabled");
    await dialog.getByRole("button", { name: "Save" }).click();
    await rowOf(page, "usenet.providers").getByText("127.0.0.1:119").waitFor();
    expect((await values()).get("usenet.providers")).toMatchObject({ source: "saved", isSet: true });
    expect((await ask<{ items: object[] }>("providers")).items).toMatchObject([{ host: "127.0.0.1", port: 119, tls: false, use: "disabled" }]);

    await page.goto("settings/arr");
    await rowOf(page, "arr.instances").getByRole("button", { name: "Connect a program" }).click();
    await dialog.getByLabel("Address of Sonarr").fill("sonarr");
    await dialog.getByLabel("API key of Sonarr").fill(arr.key);
    await dialog.getByRole("button", { name: "Add to Sonarr" }).click();
    await sentence.waitFor();
    expect((await values()).get("arr.instances")).toMatchObject({ source: "default" });
    await dialog.getByLabel("Address of Sonarr").fill(arr.url);
    await dialog.getByRole("button", { name: "Add to Sonarr" }).click();
    await dialog.getByText(/Sonarr uses Sluice now/).waitFor();
    expect((await values()).get("arr.instances")).toMatchObject({ source: "saved", isSet: true });
    expect((await ask<{ items: object[] }>("arr")).items).toMatchObject([{ kind: "sonarr", url: arr.url }]);
    await arr.stop();
  });

  it("that the environment sets is locked and says by which variable", async () => {
    const environment = Object.fromEntries(
      fields.map((field) => [field.overrideName, edited[field.key] ?? textOf(field, otherOf(field, field.default, folder))]),
    );
    await stopOwn();
    await startOwn({ urlBase: "/base", environment });
    await eachGroup(async (plain, whole) => {
      await Promise.all(whole.map((field) => rowOf(page, field.key).getByText(field.overrideName).waitFor()));
      const locked = await Promise.all(plain.map(async (field) => [field.key, await controlOf(page, field).isDisabled()]));
      expect(locked).toEqual(plain.map((field) => [field.key, true]));
      expect(await page.getByRole("button", { name: /^(Add a provider|Connect a program|Actions for 127)/ }).count()).toBe(0);
    });
    expect(new Set([...(await values()).values()].map((value) => value.source))).toEqual(new Set(["environment"]));
  });
});

import { expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { components } from "../src/types/api";

export type SettingField = components["schemas"]["SettingField"];
export type SettingValue = components["schemas"]["SettingValue"];

/** Settings with an editor of their own, and a valid value of each as text. */
export const edited: Readonly<Record<string, string>> = {
  "usenet.providers": '{"Providers":[{"Host":"127.0.0.1","Port":1,"UseSsl":false,"Type":0}]}',
  "arr.instances": '{"SonarrInstances":[{"Host":"http://sonarr:8989","ApiKey":"canarycanary"}]}',
};

/** Exceeds the limit of any list, key or line. */
const tooMany = 300;
const tooLong = 2_000;
/** Longer texts are pasted. */
const mostTyped = 20;

/** Returns a valid value other than the present one; a list gets one more line. */
export function otherOf(field: SettingField, present: string, folder: string): string {
  if (field.key === "general.url-base") return "/base";
  if (field.key === "queue.resume-threshold") return "10"; // Must be below the capacity of the queue.
  switch (field.type) {
    case "bool":
      return present === "true" ? "false" : "true";
    case "choice":
      return field.choices?.findLast((choice) => choice !== present) ?? "";
    case "integer":
      return String(Number(present) === field.max ? field.max - 1 : field.max);
    case "url":
      return "https://other.example.com";
    case "path":
      return folder;
    case "json":
      return '[{"days":"mon","from":"08:00","to":"09:00","mbps":5}]';
    case "list":
    case "secret-list":
      // Valid as a name, a host, a network and a line.
      return [...linesOf(present), field.key === "api.local-nzb-dirs" ? folder : "10.1.0.0"].join("\n");
    case "secret":
      return "other-other-other-other";
    default:
      return "other";
  }
}

/** Returns a wrong value that the control lets the user enter; null if the control allows valid ones only. */
export function wrongOf(field: SettingField): string | null {
  switch (field.type) {
    case "bool":
    case "choice":
      return null;
    case "integer":
      return `${field.max}0`;
    case "url":
      return "ftp://user@host";
    case "path":
      return "relative";
    case "json":
      return "[";
    case "list":
    case "secret-list":
      return Array.from({ length: tooMany }, (_, index) => `relative to/${index}`).join("\n");
    case "secret":
      return "x".repeat(tooLong);
    default:
      return ":".repeat(tooMany);
  }
}

/** Returns the saved text of a draft: the lines of a list as a JSON array, anything else unchanged. */
export function textOf(field: SettingField, draft: string): string {
  return field.type === "list" || field.type === "secret-list" ? JSON.stringify(draft.split("\n")) : draft;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : (JSON.parse(text) as string[]);
}

export const rowOf = (page: Page, key: string): Locator => page.locator(`[id="setting-${key}"]`);

export const controlOf = (page: Page, field: SettingField): Locator => rowOf(page, field.key).getByLabel(field.title, { exact: true });

/** Enters a value like a user; a switch by the keyboard, because the save bar may cover it. */
export async function enter(page: Page, field: SettingField, draft: string): Promise<void> {
  const control = controlOf(page, field);
  if (field.type === "bool") {
    if ((await control.isChecked()) !== (draft === "true")) await control.press("Space");
  } else if (field.type === "choice") await control.selectOption(draft);
  else if (draft.split("\n").length > mostTyped) await paste(control, draft);
  else await control.fill(draft);
}

/** Replaces a text with one event, because `fill` enters a long text line by line with two events each. */
async function paste(control: Locator, text: string): Promise<void> {
  await control.click();
  await control.evaluate((area: HTMLTextAreaElement, data) => {
    area.setRangeText(data, 0, area.value.length, "end");
    area.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertFromPaste", data }));
  }, text);
}

/** Saves the changes of a page through the review dialog. */
export async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Review and save" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
}

/** Checks that a field shows a sentence about its error. */
export async function expectSentence(page: Page, field: SettingField): Promise<void> {
  const sentence = rowOf(page, field.key).locator('[id$="-error"]');
  expect([field.key, await sentence.innerText()]).toEqual([field.key, expect.stringMatching(/^.{10,}\.$/)]);
}

/** Enters wrong values and checks the sentence of each, from the page and from the server, then discards them. */
export async function enterWrong(page: Page, fields: readonly SettingField[]): Promise<void> {
  const wrong = fields.map((field) => [field, wrongOf(field)] as const).filter((entry): entry is [SettingField, string] => entry[1] !== null);
  const isJudgedHere = ([field]: [SettingField, string]) => ["integer", "url", "path", "json"].includes(field.type);
  for (const isHere of [true, false]) {
    const entered = wrong.filter((entry) => isJudgedHere(entry) === isHere);
    if (entered.length === 0) continue;
    for (const [field, draft] of entered) await enter(page, field, draft);
    if (isHere) await page.getByRole("button", { name: "Review and save" }).click();
    else await save(page);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await Promise.all(entered.map(([field]) => expectSentence(page, field)));
    await page.getByRole("button", { name: "Discard" }).click();
  }
}

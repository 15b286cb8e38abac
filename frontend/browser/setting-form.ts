import { expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { components } from "../src/types/api";

export type SettingField = components["schemas"]["SettingField"];
export type SettingValue = components["schemas"]["SettingValue"];

/** Keys whose values are made in an editor of their own, as text. */
export const edited: Readonly<Record<string, string>> = {
  "usenet.providers": '{"Providers":[{"Host":"127.0.0.1","Port":1,"UseSsl":false,"Type":0}]}',
  "arr.instances": '{"SonarrInstances":[{"Host":"http://sonarr:8989","ApiKey":"canarycanary"}]}',
};

/** More than any list, key or line may have. */
const tooMany = 300;
const tooLong = 2_000;
/** Lines that are entered by typing. */
const mostTyped = 20;

/** What the control of a field may hold instead of what it holds now; a list gets one line more. */
export function otherOf(field: SettingField, present: string, folder: string): string {
  if (field.key === "general.url-base") return "/base";
  if (field.key === "queue.resume-threshold") return "10"; // Below the most that the queue holds.
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
      // At once a name, a host, a network and a line.
      return [...linesOf(present), field.key === "api.local-nzb-dirs" ? folder : "10.1.0.0"].join("\n");
    case "secret":
      return "other-other-other-other";
    default:
      return "other";
  }
}

/** What the control of a field can hold and the field cannot; null where the control holds nothing that is wrong. */
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

/** The text of a value of a list, one element in a line, or the value itself. */
export function textOf(field: SettingField, draft: string): string {
  return field.type === "list" || field.type === "secret-list" ? JSON.stringify(draft.split("\n")) : draft;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : (JSON.parse(text) as string[]);
}

/** The row of a setting. */
export const rowOf = (page: Page, key: string): Locator => page.locator(`[id="setting-${key}"]`);

/** The control of a setting. */
export const controlOf = (page: Page, field: SettingField): Locator => rowOf(page, field.key).getByLabel(field.title, { exact: true });

/** Enters a value as a user does; a switch by the keyboard, because the bar below may lie over it. */
export async function enter(page: Page, field: SettingField, draft: string): Promise<void> {
  const control = controlOf(page, field);
  if (field.type === "bool") {
    if ((await control.isChecked()) !== (draft === "true")) await control.press("Space");
  } else if (field.type === "choice") await control.selectOption(draft);
  else if (draft.split("\n").length > mostTyped) await paste(control, draft);
  else await control.fill(draft);
}

/** Replaces a text by a long one with one event; the browser types what it is given to fill in line by line, with two events for each. */
async function paste(control: Locator, text: string): Promise<void> {
  await control.click();
  await control.evaluate((area: HTMLTextAreaElement, data) => {
    area.setRangeText(data, 0, area.value.length, "end");
    area.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertFromPaste", data }));
  }, text);
}

/** Saves what a page has changed, with the look at it that comes before. */
export async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Review and save" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
}

/** Waits for the sentence at a field. */
export async function expectSentence(page: Page, field: SettingField): Promise<void> {
  const sentence = rowOf(page, field.key).locator('[id$="-error"]');
  expect([field.key, await sentence.innerText()]).toEqual([field.key, expect.stringMatching(/^.{10,}\.$/)]);
}

/** Enters wrong values: each gets its sentence, those that the page judges at once and those that the server judges. Nothing of it stays. */
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

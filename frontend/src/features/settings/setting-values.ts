import { formatNumber } from "@/lib/format";
import { holdsWords } from "@/lib/words";
import type { SettingField, SettingValue } from "./api/settings";
import { t } from "./en";

const choices = [
  "trace", "debug", "information", "warning", "error", "text", "json", "auto", "always", "never", "symlinks", "strm", "full", "sampled", "increment",
  "mark-failed", "edges", "all",
] as const;

/** Values that the server makes by itself and that have no default to go back to. */
const generated = new Set(["api.key", "api.strm-key", "webdav.pass"]);

/** Keys that are random letters and can be made here. */
export const isRandomKey = (field: SettingField) => field.key === "api.key" || field.key === "api.strm-key" || field.key === "api.nzb-key";

/** Whether a value can be given its default again. */
export function isResettable(field: SettingField, value: SettingValue): boolean {
  return value.source === "saved" && !generated.has(field.key);
}

/** The word of a choice for people. */
export function choiceLabel(word: string): string {
  const known = choices.find((choice) => choice === word);
  return known ? t(`choice.${known}`) : word;
}

const isList = (field: SettingField) => field.type === "list" || field.type === "secret-list";

/** What the control of a setting holds, from its text: a list has one element in a line. */
export function toDraft(field: SettingField, text: string): string {
  return isList(field) ? elements(text).join("\n") : text;
}

/** The text that is saved, from what the control holds. */
export function toText(field: SettingField, draft: string): string {
  if (!isList(field)) return field.type === "json" ? draft.trim() : draft;
  return JSON.stringify(draft.split("\n").map((line) => line.trim()).filter((line) => line !== ""));
}

/** Whether two texts of a setting mean the same. */
export function isSame(field: SettingField, one: string, other: string): boolean {
  return canonical(field, one) === canonical(field, other);
}

/** A value in words, as differences and defaults show it. */
export function inWords(field: SettingField, text: string): string {
  if (field.secret) return text === "" ? t("empty") : "••••••••";
  if (field.type === "bool") return isOn(text) ? t("on") : t("off");
  if (field.type === "choice") return choiceLabel(text);
  if (field.type === "integer" && (text !== "0" || field.zeroMeans === null)) return [formatNumber(Number(text)), field.unit].filter(Boolean).join(" ");
  if (field.type === "integer") return field.zeroMeans ?? text;
  if (isList(field)) return elements(text).join(", ") || t("empty");
  return text === "" ? (field.zeroMeans ?? t("empty")) : text;
}

/** Whether the text of a switch is on. */
export function isOn(text: string): boolean {
  return /^(true|1|yes|on)$/i.test(text);
}

/** All words of a search stand somewhere in what is said of a setting. */
export function isFound(field: SettingField, query: string): boolean {
  return holdsWords([field.title, field.help, field.key, field.overrideName, ...field.aliases].join(" "), query);
}

function canonical(field: SettingField, text: string): string {
  if (field.type === "bool") return String(isOn(text));
  return isList(field) ? JSON.stringify(elements(text)) : text.trim();
}

function elements(text: string): string[] {
  const trimmed = text.trim();
  if (trimmed.startsWith("[")) {
    try {
      const parsed: unknown = JSON.parse(trimmed);
      if (Array.isArray(parsed)) return parsed.map(String);
    } catch {
      // An element may begin with a bracket: then it is a list with commas.
    }
  }
  return trimmed.split(",").map((element) => element.trim()).filter((element) => element !== "");
}

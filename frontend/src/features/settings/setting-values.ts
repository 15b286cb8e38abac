import { formatNumber } from "@/lib/format";
import { holdsWords } from "@/lib/words";
import type { SettingField, SettingValue } from "./api/settings";
import { t } from "./en";

const choices = [
  "trace", "debug", "information", "warning", "error", "text", "json", "auto", "always", "never", "symlinks", "strm", "full", "sampled", "increment",
  "mark-failed", "edges", "all",
] as const;

/** Values that the server generates and that have no default. */
const generated = new Set(["api.key", "api.strm-key", "webdav.pass"]);

/** Whether the value is a random key that the page can generate. */
export const isRandomKey = (field: SettingField) => field.key === "api.key" || field.key === "api.strm-key" || field.key === "api.nzb-key";

/** Whether a value can be reset to its default. */
export function isResettable(field: SettingField, value: SettingValue): boolean {
  return value.source === "saved" && !generated.has(field.key);
}

/** Returns the label of a choice. */
export function choiceLabel(word: string): string {
  const known = choices.find((choice) => choice === word);
  return known ? t(`choice.${known}`) : word;
}

const isList = (field: SettingField) => field.type === "list" || field.type === "secret-list";

/** Converts a saved text for its control: a list has one element per line. */
export function toDraft(field: SettingField, text: string): string {
  return isList(field) ? elements(text).join("\n") : text;
}

/** Converts the text of a control for saving. */
export function toText(field: SettingField, draft: string): string {
  if (!isList(field)) return field.type === "json" ? draft.trim() : draft;
  return JSON.stringify(draft.split("\n").map((line) => line.trim()).filter((line) => line !== ""));
}

/** Whether two texts of a setting are equivalent. */
export function isSame(field: SettingField, one: string, other: string): boolean {
  return canonical(field, one) === canonical(field, other);
}

/** Words a value, for comparisons and defaults. */
export function inWords(field: SettingField, text: string): string {
  if (field.secret) return text === "" ? t("empty") : "••••••••";
  if (field.type === "bool") return isOn(text) ? t("on") : t("off");
  if (field.type === "choice") return choiceLabel(text);
  if (field.type === "integer" && (text !== "0" || field.zeroMeans === null)) return [formatNumber(Number(text)), field.unit].filter(Boolean).join(" ");
  if (field.type === "integer") return field.zeroMeans ?? text;
  if (isList(field)) return elements(text).join(", ") || t("empty");
  return text === "" ? (field.zeroMeans ?? t("empty")) : text;
}

/** Whether the text of a switch means on. */
export function isOn(text: string): boolean {
  return /^(true|1|yes|on)$/i.test(text);
}

/** Whether the texts of a setting contain all words of a search. */
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
      // Not JSON, so the text is a list with commas whose first element begins with a bracket.
    }
  }
  return trimmed.split(",").map((element) => element.trim()).filter((element) => element !== "");
}

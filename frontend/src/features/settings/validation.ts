import * as z from "zod/mini";
import type { SettingField } from "./api/settings";
import { t } from "./en";

/** Returns the error of a setting's text; undefined if valid. The server checks again. */
export function errorOf(field: SettingField, text: string): string | undefined {
  return rule(field).safeParse(text.trim()).error?.issues[0]?.message;
}

function rule(field: SettingField): z.ZodMiniType<string> {
  switch (field.type) {
    case "integer":
      return z.string().check(
        z.refine((text) => /^-?\d+$/.test(text), { error: t("need-number"), abort: true }),
        z.refine((text) => isBetween(Number(text), field), { error: rangeOf(field) }),
      );
    case "url":
      return z.string().check(z.refine((text) => text === "" || /^https?:\/\/[^\s/]/i.test(text), { error: t("bad-url") }));
    case "path":
      return z.string().check(z.refine((text) => text === "" || /^(\/|[a-z]:[\\/])/i.test(text), { error: t("bad-path") }));
    case "json":
      return z.string().check(z.refine((text) => text === "" || isJson(text), { error: t("bad-json") }));
    default:
      return z.string();
  }
}

function isBetween(number: number, field: SettingField): boolean {
  return number >= (field.min ?? number) && number <= (field.max ?? number);
}

function rangeOf(field: SettingField): string {
  return field.max === null ? t("at-least", { min: field.min ?? 0 }) : t("out-of-range", { min: field.min ?? 0, max: field.max });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

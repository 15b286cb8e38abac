import { FileCheck, Gauge, LogOut, type LucideIcon, Moon, Pause, Play, RotateCcw, SlidersHorizontal, Sun } from "lucide-react";
import type { Schema } from "@/lib/api-client";
import { holdsWords } from "@/lib/words";
import { t } from "./en";

type SettingField = Schema<"SettingField">;
export type Provider = Pick<Schema<"ProviderRow">, "id" | "name" | "host" | "port" | "tls" | "user" | "skipsCertificateCheck">;

/** The effect of a command; the dialog runs it. */
export type Act =
  | { kind: "theme"; theme: "dark" | "light" | "auto" }
  | { kind: "pause"; minutes: number | null }
  | { kind: "resume" }
  | { kind: "retry-failed" }
  | { kind: "test"; provider: Provider }
  | { kind: "log-out" }
  | { kind: "set"; key: string; title: string; value: string };

/** A search result that runs a command. */
export interface Command {
  group: "actions";
  id: string;
  label: string;
  detail: string;
  icon: LucideIcon;
  act: Act;
}

/** The objects that commands can name. */
export interface CommandContext {
  providers: readonly Provider[];
  fields: readonly SettingField[];
}

const mostSettings = 3;
const limitKey = "usenet.bandwidth-limit-mbps";
const units = { m: 1, min: 1, minute: 1, minutes: 1, h: 60, hour: 60, hours: 60 } as const;

/** Returns the commands that match the text; none for an empty one. */
export function commandsOf(text: string, { providers, fields }: CommandContext): Command[] {
  const query = text.trim().toLowerCase();
  if (query === "") return [];
  return [...pauses(query), ...named(query), ...tests(query, providers), ...settings(query, fields)];
}

/** Matches "pause", "pause 1h" and "pause for 30 minutes". */
function pauses(query: string): Command[] {
  const [, amount, unit = "h"] = /^pause(?: for)?(?: (\d{1,4}) ?([a-z]*))?$/.exec(query) ?? [];
  if (amount !== undefined) {
    const factor = units[(unit || "h") as keyof typeof units];
    const minutes = Number(amount) * factor;
    return factor === undefined || minutes === 0 ? [] : [pause(minutes)];
  }
  return query.length >= 3 && t("pause").toLowerCase().startsWith(query) ? [pause(60), pause(null)] : [];
}

function pause(minutes: number | null): Command {
  const label =
    minutes === null ? t("pause") : minutes % 60 === 0 ? t("pause-hours", { count: minutes / 60 }) : t("pause-minutes", { count: minutes });
  return command(`pause ${minutes}`, label, Pause, { kind: "pause", minutes });
}

function named(query: string): Command[] {
  const all: Command[] = [
    command("resume", t("resume"), Play, { kind: "resume" }),
    command("retry", t("retry-failed"), RotateCcw, { kind: "retry-failed" }),
    command("dark", t("theme-dark"), Moon, { kind: "theme", theme: "dark" }),
    command("light", t("theme-light"), Sun, { kind: "theme", theme: "light" }),
    command("auto", t("theme-auto"), Sun, { kind: "theme", theme: "auto" }),
    command("log-out", t("log-out"), LogOut, { kind: "log-out" }),
  ];
  return query.length < 2 ? [] : all.filter(({ label }) => holdsWords(label, query));
}

/** Matches "test" and "test main". */
function tests(query: string, providers: CommandContext["providers"]): Command[] {
  const match = /^test(?: provider)?(?: (.*))?$/.exec(query);
  if (!match) return [];
  return providers
    .filter(({ name }) => holdsWords(name, match[1] ?? ""))
    .map((provider) => command(`test ${provider.id}`, t("test", { name: provider.name }), Gauge, { kind: "test", provider }));
}

/** Matches words of a setting and a value, as in "max connections 30", "limit 50", "limit off" and "disk cache on". */
function settings(query: string, fields: readonly SettingField[]): Command[] {
  const [, words = "", typed = ""] = /^(.*\S)\s+(\d{1,9}|on|off)$/.exec(query) ?? [];
  if (words === "") return [];
  const sort = (field: SettingField) => (words === "limit" && field.key === limitKey ? 0 : holdsWords(field.title, words) ? 1 : 2);
  return fields
    .filter((field) => holdsWords(`${field.title} ${field.key}`, words) && valueOf(field, typed) !== null)
    .sort((one, other) => sort(one) - sort(other))
    .slice(0, mostSettings)
    .map((field) => {
      const value = valueOf(field, typed) ?? "";
      const shown = field.type === "bool" ? t(value === "true" ? "on" : "off") : field.unit === null || value === "0" ? value : `${value} ${field.unit}`;
      const icon = field.type === "bool" ? FileCheck : SlidersHorizontal;
      return { ...command(`set ${field.key}`, t("set", { title: field.title, value: shown }), icon, { kind: "set", key: field.key, title: field.title, value }), detail: field.help };
    });
}

/** Converts a typed value for a setting; null if it is invalid. */
function valueOf(field: SettingField, typed: string): string | null {
  if (field.type === "bool") return typed === "on" ? "true" : typed === "off" ? "false" : null;
  if (field.type !== "integer" || typed === "on") return null;
  const value = typed === "off" ? (field.zeroMeans === null ? null : 0) : Number(typed);
  if (value === null || value < (field.min ?? 0) || value > (field.max ?? Number.POSITIVE_INFINITY)) return null;
  return String(value);
}

function command(id: string, label: string, icon: LucideIcon, act: Act): Command {
  return { group: "actions", id: `act ${id}`, label, detail: "", icon, act };
}

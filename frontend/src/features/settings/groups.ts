import { BookOpen, Cable, DatabaseBackup, Download, Gauge, HeartPulse, type LucideIcon, ListChecks, Play, Server, UserRound } from "lucide-react";
import type { FieldGroup, SettingField } from "./api/settings";

/** A part of the settings with an address of its own. */
export type PartName = "essentials" | FieldGroup | "account";

/** The groups in the order of the page. */
export const groupOrder: readonly FieldGroup[] = ["providers", "streaming", "library", "download-client", "arr", "health", "backups", "system"];

export const icons: Record<PartName, LucideIcon> = {
  essentials: ListChecks,
  providers: Server,
  streaming: Play,
  library: BookOpen,
  "download-client": Download,
  arr: Cable,
  health: HeartPulse,
  backups: DatabaseBackup,
  system: Gauge,
  account: UserRound,
};

/** Returns the parts that have any content. */
export function partsOf(fields: readonly SettingField[]): PartName[] {
  return ["essentials", ...groupOrder.filter((group) => fields.some((field) => field.group === group)), "account"];
}

/** Returns the address of a part. */
export function pathOf(part: PartName): string {
  return part === "essentials" ? "/settings" : `/settings/${part}`;
}

/** Returns the fields of a part, the basic ones first. */
export function fieldsOf(part: PartName, fields: readonly SettingField[]): { basic: SettingField[]; advanced: SettingField[] } {
  if (part === "essentials") {
    const rank = (field: SettingField) => groupOrder.indexOf(field.group);
    return { basic: fields.filter((field) => field.basic).sort((one, other) => rank(one) - rank(other)), advanced: [] };
  }
  const own = fields.filter((field) => field.group === part);
  return { basic: own.filter((field) => field.basic), advanced: own.filter((field) => !field.basic) };
}

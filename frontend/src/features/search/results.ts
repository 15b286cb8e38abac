import { Clock, File, Folder, History, type LucideIcon, Play, Settings } from "lucide-react";
import type { Schema } from "@/lib/api-client";
import { categoryName } from "@/lib/category";
import { filmLine, filmName } from "@/lib/film";
import { holdsWords } from "@/lib/words";
import { t } from "./en";

/** A page that a result can open. */
export interface Place {
  label: string;
  path: string;
  icon: LucideIcon;
}

/** A line of the results. */
export interface Result extends Place {
  group: "pages" | "files" | "queue" | "history" | "settings";
  /** Unique among all results. */
  id: string;
  /** Its location or its effect. */
  detail: string;
}

const mostSettings = 6;

/** Returns the pages whose names contain the words; all pages for an empty text. */
export function placesOf(places: readonly Place[], query: string): Result[] {
  return places.filter((place) => holdsWords(place.label, query)).map((place) => ({ ...place, group: "pages", id: `page ${place.path}`, detail: "" }));
}

/** Returns the settings whose titles contain the words; if there are none, those whose help or key does. */
export function settingsOf(fields: readonly Schema<"SettingField">[], query: string): Result[] {
  if (query === "") return [];
  const inTitle = (field: Schema<"SettingField">) => holdsWords(field.title, query);
  const titled = fields.filter(inTitle);
  return (titled.length > 0 ? titled : fields.filter((field) => holdsWords(`${field.title} ${field.help} ${field.key}`, query)))
    .slice(0, mostSettings)
    .map((field) => ({
      group: "settings",
      id: `setting ${field.key}`,
      label: field.title,
      detail: field.help,
      path: `/settings?q=${encodeURIComponent(field.key)}`,
      icon: Settings,
    }));
}

/** Converts files to results. A file opens in its folder, a folder opens itself. */
export function filesOf(rows: readonly Schema<"FileRow">[]): Result[] {
  return rows.map((row) => {
    const parts = row.path.split("/");
    const folder = row.kind === "file" ? parts.slice(0, -1) : parts;
    const path = ["/files", ...folder.map(encodeURIComponent)].join("/");
    return {
      group: "files",
      id: `file ${row.path}`,
      label: row.name,
      detail: t("in", { folder: parts.slice(0, -1).join("/") || "/" }),
      path: row.id === null ? path : `${path}?file=${encodeURIComponent(row.id)}`,
      icon: row.kind === "file" ? File : Folder,
    };
  });
}

/** Returns the words after "play"; null for any other text. */
export function playedWords(text: string): string | null {
  return /^play\s+(\S.*)$/i.exec(text)?.[1] ?? null;
}

/** Returns the playable films, each once, with addresses that play them. */
export function playsOf(rows: readonly Schema<"FileRow">[]): Result[] {
  const plays = rows.flatMap((row): Result[] => {
    const id = row.filmId ?? (row.media === "video" ? row.id : null);
    if (id === null) return [];
    const parts = row.path.split("/");
    const folder = row.kind === "file" ? parts.slice(0, -1) : parts;
    const path = `${["/files", ...folder.map(encodeURIComponent)].join("/")}?play=${encodeURIComponent(id)}`;
    const name = filmName(row.film, folder[1] ?? row.name);
    return [{ group: "files", id: `play ${id}`, label: t("play", { name }), detail: filmLine(row.film) || row.name, path, icon: Play }];
  });
  return [...new Map(plays.reverse().map((result) => [result.id, result])).values()].reverse();
}

export function queueOf(rows: readonly Schema<"QueueRow">[]): Result[] {
  return rows.map((row) => ({
    group: "queue", id: `queue ${row.id}`, label: row.name, detail: categoryName(row.category), path: `/queue?item=${encodeURIComponent(row.id)}`, icon: Clock,
  }));
}

export function historyOf(rows: readonly Schema<"HistoryRow">[]): Result[] {
  return rows.map((row) => ({
    group: "history", id: `history ${row.id}`, label: row.name, detail: row.sentence ?? categoryName(row.category), path: `/history/${encodeURIComponent(row.id)}`, icon: History,
  }));
}

import type { Schema } from "@/lib/api-client";

export type LogLine = Schema<"LogLine">;
export type LogPage = Schema<"LogPage">;
export type Level = Schema<"LogLineLevel">;
export type LogFilter = "level" | "source" | "job" | "stream" | "q";
export type LogFilters = Partial<Record<LogFilter, string>>;

/** The levels, from least to most severe. */
export const levels = ["trace", "debug", "information", "warning", "error", "critical"] as const satisfies readonly Level[];

/** Returns the level that an address names; undefined if it names none. */
export function levelOf(word: string | undefined): Level | undefined {
  return levels.find((level) => level === word);
}

// As many as the server keeps (LogRing), so that lines dropped here are gone there, too.
const most = 5_000;

/** The loaded lines, the newest first, and the cursor of the next older ones. */
export interface Lines {
  items: readonly LogLine[];
  next: string | null;
}

/** Identifies a line. The number alone does not, because a restarted server starts over. */
export function lineKey(line: LogLine): string {
  return `${line.seq} ${line.at}`;
}

/** Whether a line matches the filters, by the same rule as on the server. */
export function fits(line: LogLine, filters: LogFilters): boolean {
  const least = levelOf(filters.level);
  if (least && levels.indexOf(line.level) < levels.indexOf(least)) return false;
  if (filters.source && line.source !== filters.source) return false;
  if (filters.job && line.job !== filters.job) return false;
  if (filters.stream && line.stream !== filters.stream) return false;
  const text = fold(`${line.source} ${line.text} ${line.job ?? ""} ${line.stream ?? ""}`);
  return fold(filters.q ?? "").split(" ").every((word) => text.includes(word));
}

/** Normalizes a text: lower case, no accents; `.`, `_` and `-` become spaces (ADM-4). */
function fold(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/[\s._-]+/g, " ").trim();
}

/** Adds new lines, given with the oldest first, before the loaded ones. */
export function addNew(known: Lines, lines: readonly LogLine[]): Lines {
  const newest = known.items[0]?.seq ?? -1;
  const fresh = lines.filter((line) => line.seq > newest).reverse();
  return fresh.length === 0 ? known : bounded({ items: [...fresh, ...known.items], next: known.next });
}

/** Adds a page of older lines after the loaded ones. */
export function addOlder(known: Lines, page: LogPage): Lines {
  const oldest = known.items.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
  return { items: [...known.items, ...page.items.filter((line) => line.seq < oldest)], next: page.next };
}

/** Joins the newest page to the loaded lines. If they do not overlap, or the server has restarted, only the page remains. */
export function join(known: Lines, page: LogPage): Lines {
  const newest = known.items[0];
  const isMet = newest !== undefined && page.items.some((line) => lineKey(line) === lineKey(newest));
  return isMet ? addNew(known, [...page.items].reverse()) : { items: page.items, next: page.next };
}

function bounded(lines: Lines): Lines {
  return lines.items.length <= most ? lines : { items: lines.items.slice(0, most), next: null };
}

/** Formats a line as in the download. */
export function textOf(line: LogLine): string {
  const about = [line.job && `job ${line.job}`, line.stream && `stream ${line.stream}`].filter(Boolean).join(", ");
  return `${line.at} ${line.level} ${line.source}: ${line.text}${about === "" ? "" : ` (${about})`}`;
}

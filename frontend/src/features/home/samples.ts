import type { Schema } from "@/lib/api-client";

export type StatSample = Schema<"StatSample">;

/** How long each window is and how far its samples lie apart, in seconds, and its word in a call. */
export const windows = {
  "ten-minutes": { seconds: 600, step: 1, word: "10m" },
  hour: { seconds: 3_600, step: 10, word: "1h" },
  day: { seconds: 86_400, step: 240, word: "24h" },
  week: { seconds: 604_800, step: 1_680, word: "7d" },
  month: { seconds: 2_592_000, step: 7_200, word: "30d" },
};

export type StatWindow = keyof typeof windows;

/** The window of an address; ten minutes where it names none. */
export function windowOf(word: string | null): StatWindow {
  return word !== null && word in windows ? (word as StatWindow) : "ten-minutes";
}

/** The samples of columns, each at its end. The server counts in kB/s, and its last point is still going on. */
export function samplesOf({ now, columns }: Pick<Schema<"Stats">, "now" | "columns">): StatSample[] {
  const start = Date.parse(columns.start);
  const end = Date.parse(now.at);
  return columns.fromProviders.map((fromProviders, point) => ({
    ...now,
    at: new Date(Math.min(start + (point + 1) * columns.step * 1_000, end)).toISOString(),
    fromProviders: fromProviders * 1_000,
    toPlayers: (columns.toPlayers[point] ?? 0) * 1_000,
    fromCache: (columns.fromCache[point] ?? 0) * 1_000,
    streams: columns.streams[point] ?? 0,
    connectionsUsed: columns.connections[point] ?? 0,
  }));
}

/** Samples of a window, and those of the last step, which are one sample once it is over. */
export interface Samples {
  samples: readonly StatSample[];
  pending: readonly StatSample[];
}

/** Takes a sample of a second in, and lets go of what has left the window. */
export function addSample({ samples, pending }: Samples, sample: StatSample, window: StatWindow): Samples {
  const { seconds, step } = windows[window];
  const at = secondsOf(sample);
  const last = samples.at(-1);
  if (last && at <= secondsOf(last)) return { samples, pending };
  const gathered = [...pending, sample];
  const first = gathered[0] ?? sample;
  if (step > 1 && at - secondsOf(last ?? first) < step) return { samples, pending: gathered };
  const kept = samples.findIndex((one) => secondsOf(one) > at - seconds);
  return { samples: [...(kept < 0 ? [] : samples.slice(kept)), meanOf(gathered)], pending: [] };
}

/** Whether more is missing between a sample and the one before it than a late second. */
export function isGap(before: StatSample | undefined, sample: StatSample, window: StatWindow): boolean {
  return before !== undefined && secondsOf(sample) - secondsOf(before) > Math.max(10, 3 * windows[window].step);
}

/** What a chart draws: seconds since 1970, and a sample for each, or null where there is none. */
export interface Columns {
  times: number[];
  rows: (StatSample | null)[];
}

/** Samples over the whole window, so that one that has just begun is not drawn as if it were full, and a stop is drawn as a gap. */
export function columnsOf(samples: readonly StatSample[], window: StatWindow): Columns {
  const { seconds, step } = windows[window];
  const columns: Columns = { times: [], rows: [] };
  const add = (time: number, row: StatSample | null) => {
    columns.times.push(time);
    columns.rows.push(row);
  };
  const end = samples.at(-1);
  if (!end) return columns;
  let before = secondsOf(end) - seconds;
  add(before, null);
  for (const sample of samples) {
    const at = secondsOf(sample);
    if (at <= before) continue;
    if (at - before > 3 * step + 1 && columns.rows.at(-1)) add(before + step, null);
    add(at, sample);
    before = at;
  }
  return columns;
}

function secondsOf(sample: StatSample): number {
  return Date.parse(sample.at) / 1_000;
}

/** Rates as their mean, counts as their most, as the server gives them. */
function meanOf(samples: readonly StatSample[]): StatSample {
  const last = samples.at(-1) as StatSample;
  const mean = (of: (sample: StatSample) => number) => Math.round(samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length);
  const most = (of: (sample: StatSample) => number) => Math.max(...samples.map(of));
  return {
    ...last,
    fromProviders: mean((sample) => sample.fromProviders),
    toPlayers: mean((sample) => sample.toPlayers),
    fromCache: mean((sample) => sample.fromCache),
    streams: most((sample) => sample.streams),
    connectionsUsed: most((sample) => sample.connectionsUsed),
  };
}

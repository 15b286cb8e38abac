import type { Schema } from "@/lib/api-client";

export type StatSample = Schema<"StatSample">;

/** Length and sample interval of each window in seconds, and its word in the API. */
export const windows = {
  "ten-minutes": { seconds: 600, step: 1, word: "10m" },
  hour: { seconds: 3_600, step: 10, word: "1h" },
  day: { seconds: 86_400, step: 240, word: "24h" },
  week: { seconds: 604_800, step: 1_680, word: "7d" },
  month: { seconds: 2_592_000, step: 7_200, word: "30d" },
};

export type StatWindow = keyof typeof windows;

/** Returns the window that an address names; ten minutes if it names none. */
export function windowOf(word: string | null): StatWindow {
  return word !== null && word in windows ? (word as StatWindow) : "ten-minutes";
}

/** Converts columns to samples, each at the end of its interval. The server counts in kB/s, and the last interval is not over yet. */
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

/** The samples of a window, and the seconds that the next sample will merge. */
export interface Samples {
  samples: readonly StatSample[];
  pending: readonly StatSample[];
}

/** Adds a sample of one second and drops those that have left the window. */
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

/** Whether more than a late second is missing before a sample. */
export function isGap(before: StatSample | undefined, sample: StatSample, window: StatWindow): boolean {
  return before !== undefined && secondsOf(sample) - secondsOf(before) > Math.max(10, 3 * windows[window].step);
}

/** The points of a chart: seconds since 1970, and the sample at each; null if there is none. */
export interface Columns {
  times: number[];
  rows: (StatSample | null)[];
}

/** Spreads samples over the whole window, so that a new window is not drawn as full and an interruption is drawn as a gap. */
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

/** Merges samples as the server does: the mean of rates, the maximum of counts. */
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

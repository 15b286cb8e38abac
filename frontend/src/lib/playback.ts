import type { Schema } from "./api-client";
import { formatBytes, formatDuration } from "./format";

type StreamRow = Pick<Schema<"StreamRow">, "state" | "wait" | "aheadBytes" | "bytesPerSecond" | "position" | "startedAt" | "lastReadAt" | "file">;

/**
 * How a playback is getting on. Badge, rate, sentence and advice all follow from this one word, so that no two of them tell different stories.
 * `stalled` waits with little buffered, `slowed` waits with enough; `tight` waits for nothing and has little.
 */
export type Mood = "ended" | "paused" | "starting" | "gaps" | "stalled" | "slowed" | "tight" | "whole" | "good";

/** What only the page of one playback knows. */
interface Known {
  /** Articles that no provider has. */
  missing: number;
  /** Articles on their way. */
  inFlight: number;
}

const coveredSeconds = 10;
const startMs = 5_000;

/** Whether playback may pause for a reason to wait; a player that does not read needs nothing. */
export function isHoldUp(reason: Schema<"WaitReason">): boolean {
  return reason !== "none" && reason !== "player-slow";
}

/** The film that is buffered ahead in seconds, at the rate of the last ten; null while nothing is read. */
export function bufferedSeconds({ aheadBytes, bytesPerSecond }: Pick<StreamRow, "aheadBytes" | "bytesPerSecond">): number | null {
  return bytesPerSecond > 0 ? aheadBytes / bytesPerSecond : null;
}

/** What is buffered as text: a time if the rate is known, else a size. */
export function bufferedText(row: Pick<StreamRow, "aheadBytes" | "bytesPerSecond">): string {
  const seconds = bufferedSeconds(row);
  return seconds === null ? formatBytes(row.aheadBytes) : formatDuration(Math.max(1, Math.floor(seconds)) * 1_000);
}

/** Judges a playback: what is missing first, then what holds it up, then how much is buffered. */
export function moodOf(row: StreamRow, known?: Known): Mood {
  if (row.state === "ended") return "ended";
  if (known && known.missing > 0) return "gaps";
  const isWhole = row.aheadBytes > 0 && row.position + row.aheadBytes >= row.file.bytes;
  const seconds = bufferedSeconds(row);
  const isCovered = isWhole || (seconds !== null && seconds >= coveredSeconds);
  if (isHoldUp(row.wait) && row.state === "playing") return isCovered ? "slowed" : "stalled";
  if (row.state === "paused") return "paused";
  if (isWhole) return "whole";
  if (Date.parse(row.lastReadAt) - Date.parse(row.startedAt) < startMs) return "starting";
  // A player that stopped asking has a buffer of its own, and what is not on its way was not wanted.
  const isWanting = row.wait === "none" && (known?.inFlight ?? 0) > 0;
  return !isCovered && isWanting ? "tight" : "good";
}

import type { Schema } from "./api-client";
import { formatBytes, formatDuration } from "./format";

type StreamRow = Pick<Schema<"StreamRow">, "state" | "wait" | "aheadBytes" | "bytesPerSecond" | "position" | "startedAt" | "lastReadAt" | "file">;

/**
 * State of a playback in one word. Badge, rate, sentence and advice all follow from it, so that they cannot contradict each other.
 * `stalled` waits with little buffered, `slowed` with enough; `tight` does not wait but has little.
 */
export type Mood = "ended" | "paused" | "starting" | "gaps" | "stalled" | "slowed" | "tight" | "whole" | "good";

/** Facts available only on the page of one playback. */
interface Known {
  /** Articles that no provider has. */
  missing: number;
  /** Articles that are being fetched. */
  inFlight: number;
}

const coveredSeconds = 10;
const startMs = 5_000;

/** Whether a reason to wait may pause playback. A player that does not read waits for nothing. */
export function isHoldUp(reason: Schema<"WaitReason">): boolean {
  return reason !== "none" && reason !== "player-slow";
}

/** Returns the seconds of film that are buffered, at the rate of the last ten seconds; null while nothing is read. */
export function bufferedSeconds({ aheadBytes, bytesPerSecond }: Pick<StreamRow, "aheadBytes" | "bytesPerSecond">): number | null {
  return bytesPerSecond > 0 ? aheadBytes / bytesPerSecond : null;
}

/** Formats the buffered amount: a time if the rate is known, else a size. */
export function bufferedText(row: Pick<StreamRow, "aheadBytes" | "bytesPerSecond">): string {
  const seconds = bufferedSeconds(row);
  return seconds === null ? formatBytes(row.aheadBytes) : formatDuration(Math.max(1, Math.floor(seconds)) * 1_000);
}

/** Judges a playback by missing articles first, then by its reason to wait, then by its buffer. */
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
  // A player that stopped reading has a buffer of its own, and without articles in flight nothing was requested.
  const isWanting = row.wait === "none" && (known?.inFlight ?? 0) > 0;
  return !isCovered && isWanting ? "tight" : "good";
}

import type { Schema } from "@/lib/api-client";
import { formatBytes, formatDuration } from "@/lib/format";
import { t } from "./en";
import { isHoldUp } from "./wait";

/** How a playback gets on, in one sentence. */
export interface Verdict {
  tone: "ok" | "info" | "warn" | "bad";
  sentence: string;
}

const coveredSeconds = 10;
const starting = 5_000;

/** Judges a playback: what is lost first, then what holds it up, then how much lies ready. */
export function verdictOf(stream: Schema<"StreamDetail">): Verdict {
  const { item, map, wait } = stream;
  const bytes = formatBytes(item.aheadBytes);
  const seconds = item.bytesPerSecond > 0 ? item.aheadBytes / item.bytesPerSecond : null;
  const isCovered = seconds !== null && seconds >= coveredSeconds;
  if (item.state === "ended") return { tone: "info", sentence: t("verdict.ended") };
  if (map.missing > 0) return { tone: "bad", sentence: t("verdict.missing", { count: map.missing }) };
  if (isHoldUp(wait.reason)) {
    return isCovered ? { tone: "info", sentence: t("verdict.waiting-covered", { bytes }) } : { tone: "warn", sentence: t("verdict.waiting") };
  }
  if (item.aheadBytes > 0 && item.position + item.aheadBytes >= item.file.bytes) return { tone: "ok", sentence: t("verdict.whole") };
  if (item.state === "paused") return { tone: "ok", sentence: t("verdict.paused", { bytes }) };
  if (Date.parse(item.lastReadAt) - Date.parse(item.startedAt) < starting) return { tone: "info", sentence: t("verdict.starting") };
  if (seconds === null) return { tone: "ok", sentence: t("verdict.good-quiet", { bytes }) };
  return isCovered
    ? { tone: "ok", sentence: t("verdict.good", { bytes, time: formatDuration(seconds * 1_000) }) }
    : { tone: "info", sentence: t("verdict.tight", { bytes }) };
}

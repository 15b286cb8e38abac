import type { Schema } from "@/lib/api-client";
import { formatBytes } from "@/lib/format";
import { type Mood, bufferedSeconds, bufferedText, moodOf } from "@/lib/playback";
import { t } from "./en";

/** The state of a playback in one sentence. */
export interface Verdict {
  mood: Mood;
  tone: "ok" | "info" | "warn" | "bad";
  sentence: string;
}

export function verdictOf({ item, map }: Schema<"StreamDetail">): Verdict {
  const mood = moodOf(item, { missing: map.missing, inFlight: map.inFlight });
  const bytes = formatBytes(item.aheadBytes);
  const time = bufferedText(item);
  switch (mood) {
    case "gaps":
      return { mood, tone: "bad", sentence: t("verdict.gaps", { count: map.missing }) };
    case "stalled":
      return { mood, tone: "warn", sentence: t("verdict.stalled") };
    case "slowed":
      return { mood, tone: "info", sentence: t("verdict.slowed", { time }) };
    case "tight":
      return { mood, tone: "info", sentence: t("verdict.tight", { time }) };
    case "paused":
      return { mood, tone: "ok", sentence: t("verdict.paused", { bytes }) };
    case "good":
      return { mood, tone: "ok", sentence: bufferedSeconds(item) === null ? t("verdict.good-quiet", { bytes }) : t("verdict.good", { time }) };
    case "whole":
      return { mood, tone: "ok", sentence: t("verdict.whole") };
    default:
      return { mood, tone: "info", sentence: t(`verdict.${mood}`) };
  }
}

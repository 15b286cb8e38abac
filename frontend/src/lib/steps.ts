import type { Schema } from "./api-client";
import { formatBytes } from "./format";
import { createTexts } from "./i18n/texts";

type JobStep = Schema<"JobStep">;

const t = createTexts({
  "step-read": "Read NZB",
  "step-heads": "Read file headers",
  "step-names": "Work out file names",
  "step-archives": "Index archives",
  "step-availability": "Check articles",
  "step-publish": "Publish",
  "state-pending": "waiting",
  "state-running": "running",
  "state-done": "done",
  "state-failed": "failed",
  files: { one: "{count} file", other: "{count} files" },
  segments: { one: "{count} article", other: "{count} articles" },
  heads: { one: "{count} file sampled", other: "{count} files sampled" },
  bytes: "{bytes} read",
  indexes: { one: "{count} PAR2 index read", other: "{count} PAR2 indexes read" },
  "sets refused": { one: "{count} archive rejected", other: "{count} archives rejected" },
  "volumes predicted": { one: "{count} volume predicted", other: "{count} volumes predicted" },
  notes: { one: "{count} note", other: "{count} notes" },
  asked: { one: "{count} article checked", other: "{count} articles checked" },
  missing: { one: "{count} missing", other: "{count} missing" },
});

const counted = ["files", "segments", "heads", "indexes", "sets refused", "volumes predicted", "notes", "asked", "missing"] as const;

/** Converts the steps of an import for a timeline. */
export function timelineOf(steps: readonly JobStep[]) {
  return steps.map(({ step, state, ms, detail }) => ({ label: t(`step-${step}`), state, stateLabel: t(`state-${state}`), ms, detail: findingsOf(detail) }));
}

/** Words the server's counts of a step ("3 files, 0 notes") and leaves out zeros. */
export function findingsOf(detail: string): string {
  return detail
    .split(", ")
    .map((part) => {
      const [, digits, name] = /^(\d+) (.+)$/.exec(part) ?? [];
      const count = Number(digits);
      const word = counted.find((known) => known === name);
      // Of the zeros only "0 missing" is worth showing. Counts without a text here concern the log.
      if (word) return count === 0 && word !== "missing" ? "" : t(word, { count });
      return name === "bytes" && count > 0 ? t("bytes", { bytes: formatBytes(count) }) : "";
    })
    .filter((part) => part !== "")
    .join(", ");
}

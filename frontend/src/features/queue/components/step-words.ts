import type { Schema } from "@/lib/api-client";
import { formatDuration } from "@/lib/format";
import { t } from "../en";

type JobStep = Schema<"JobStep">;

/** Formats the steps that have begun as one line, as in "read 12 ms · heads 340 ms · names…". */
export function stepLine(steps: readonly JobStep[]): string {
  return steps
    .filter(({ state }) => state !== "pending")
    .map(({ step, state, ms }) => {
      const name = t(`short-${step}`);
      return state === "running" || ms === null ? t("step-goes-on", { step: name }) : t("step-took", { step: name, time: formatDuration(ms) });
    })
    .join(" · ");
}

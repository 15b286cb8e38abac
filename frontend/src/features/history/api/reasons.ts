import type { Schema } from "@/lib/api-client";
import { failureName } from "@/lib/failure-names";
import { t } from "../en";

export type Reason = Schema<"FailureReason">;

/** The offered actions on a failure, besides removing it. */
type Way = "retry" | "password" | "queue" | "providers" | "download-client" | "logs";

const ways: Record<Reason, readonly Way[]> = {
  "not-an-nzb": ["queue"],
  "nzb-empty": ["queue"],
  "nzb-too-large": ["queue"],
  "stored-nzb-lost": ["queue", "logs"],
  "url-fetch-failed": ["retry", "queue"],
  "url-refused": ["download-client", "retry"],
  "duplicate-release": ["download-client", "retry"],
  "known-dead": ["retry", "providers"],
  "dead-post": ["retry", "providers"],
  "severe-damage": ["retry", "providers"],
  "missing-articles": ["retry", "providers"],
  "corrupt-articles": ["retry"],
  "incomplete-set": ["queue", "retry"],
  "compressed-archive": ["retry"],
  "encrypted-no-password": ["password"],
  "wrong-password": ["password"],
  "unsupported-archive": ["retry"],
  "broken-archive": ["retry"],
  "no-media": ["download-client", "retry"],
  "only-samples": ["retry"],
  stalled: ["providers", "retry"],
  cancelled: ["retry"],
  "internal-error": ["retry", "logs"],
  "failed-before": ["retry", "queue"],
};

/** All reasons in the order of the API. */
export const reasons = Object.keys(ways) as Reason[];

/** Returns the texts of a reason and the actions on it. */
export function explain(reason: Reason): { title: string; cause: string; action: string; ways: readonly Way[] } {
  return { title: failureName(reason), cause: t(`cause-${reason}`), action: t(`action-${reason}`), ways: ways[reason] };
}

/** Ways to retry besides the plain one: ask every provider again, or publish with gaps. */
export type OtherTry = "everyone" | "damage";

const otherTries: Partial<Record<Reason, readonly OtherTry[]>> = {
  "known-dead": ["everyone", "damage"],
  "dead-post": ["everyone"],
  "severe-damage": ["everyone", "damage"],
  "missing-articles": ["everyone"],
};

/** Returns the ways to retry that may have another result. After a check of all articles the files are known, so gaps can be accepted. */
export function otherTriesOf(reason: Reason | null, failedStep: Schema<"JobStepName"> | undefined): readonly OtherTry[] {
  if (reason === "missing-articles" && failedStep === "availability") return ["everyone", "damage"];
  return (reason && otherTries[reason]) ?? [];
}

/** Whether a retry needs a password. */
export function wantsPassword(reason: Reason | null): boolean {
  return reason !== null && ways[reason].includes("password");
}

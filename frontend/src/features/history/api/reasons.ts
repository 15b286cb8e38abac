import type { Schema } from "@/lib/api-client";
import { failureName } from "@/lib/failure-names";
import { t } from "../en";

export type Reason = Schema<"FailureReason">;

/** What can be pressed about a failure beside removing it. */
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

/** All reasons, in the order of the API. */
export const reasons = Object.keys(ways) as Reason[];

/** A reason in words, with what can be done. */
export function explain(reason: Reason): { title: string; cause: string; action: string; ways: readonly Way[] } {
  return { title: failureName(reason), cause: t(`cause-${reason}`), action: t(`action-${reason}`), ways: ways[reason] };
}

/** How an import is tried again beside as it was: every provider is asked anew, or it is published whatever is missing. */
export type OtherTry = "everyone" | "damage";

const otherTries: Partial<Record<Reason, readonly OtherTry[]>> = {
  "known-dead": ["everyone", "damage"],
  "dead-post": ["everyone"],
  "severe-damage": ["everyone", "damage"],
  "missing-articles": ["everyone"],
};

/** The other tries that may end in another way. Where a check of all articles found what is missing, the files themselves can be made out. */
export function otherTriesOf(reason: Reason | null, failedStep: Schema<"JobStepName"> | undefined): readonly OtherTry[] {
  if (reason === "missing-articles" && failedStep === "availability") return ["everyone", "damage"];
  return (reason && otherTries[reason]) ?? [];
}

/** Whether another try wants a password. */
export function wantsPassword(reason: Reason | null): boolean {
  return reason !== null && ways[reason].includes("password");
}

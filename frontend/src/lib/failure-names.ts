import type { Schema } from "./api-client";
import { createTexts } from "./i18n/texts";

const t = createTexts({
  "not-an-nzb": "Not an NZB",
  "nzb-empty": "Empty NZB",
  "nzb-too-large": "NZB too large",
  "stored-nzb-lost": "Stored NZB lost",
  "url-fetch-failed": "Couldn't download the NZB",
  "url-refused": "Address not allowed",
  "duplicate-release": "Already in your library",
  "known-dead": "Known to be gone",
  "dead-post": "Post is gone",
  "severe-damage": "Too many articles missing",
  "missing-articles": "Articles missing",
  "corrupt-articles": "Damaged articles",
  "incomplete-set": "Part never posted",
  "compressed-archive": "Compressed archive",
  "encrypted-no-password": "Password needed",
  "wrong-password": "Wrong password",
  "unsupported-archive": "Archive can't be streamed",
  "broken-archive": "Damaged archive",
  "no-media": "Nothing to play",
  "only-samples": "Only samples",
  stalled: "Stalled",
  cancelled: "Canceled",
  "internal-error": "Error in Sluice",
  "failed-before": "Failed on the old server",
});

/** Returns a reason for failed imports in two or three words. */
export function failureName(reason: Schema<"FailureReason">): string {
  return t(reason);
}

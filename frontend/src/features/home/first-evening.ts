import type { Schema } from "@/lib/api-client";
import { preference } from "@/lib/preference";

/** Whether the first steps are shown. Once they were all done they never come back: a provider that is removed later is no first evening. */
export const firstSteps = preference("first-steps", ["open", "done"]);

/** Whether nothing is left of the first evening. */
export function isDone({ hasProvider, hasPlayed, hasApp }: Schema<"FirstSteps">): boolean {
  return hasProvider && hasPlayed && hasApp;
}

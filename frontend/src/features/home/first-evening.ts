import type { Schema } from "@/lib/api-client";
import { preference } from "@/lib/preference";

/** Whether the first steps are shown. Once done they never return, because removing a provider later does not make a first evening. */
export const firstSteps = preference("first-steps", ["open", "done"]);

/** Whether all first steps are done. */
export function isDone({ hasProvider, hasPlayed, hasApp }: Schema<"FirstSteps">): boolean {
  return hasProvider && hasPlayed && hasApp;
}

import type { Schema } from "@/lib/api-client";

export type Step = Exclude<Schema<"SetupStage">, "done">;

/** The steps in their order. */
export const steps: readonly Step[] = ["account", "provider", "try", "apps"];

/** The step behind one; `done` behind the last. */
export function after(step: Step): Schema<"SetupStage"> {
  return steps[steps.indexOf(step) + 1] ?? "done";
}

/** Whether a step lies behind another one. A setup that is done goes nowhere else. */
export function isLater(step: Schema<"SetupStage">, than: Schema<"SetupStage">): boolean {
  const rank = (of: Schema<"SetupStage">) => (of === "done" ? steps.length : steps.indexOf(of));
  return rank(step) > rank(than);
}

/** The step to show: the one of the address as far as there is an account, or the one that the server has come to. */
export function shownStep(asked: string | null, reached: Schema<"SetupStage">): Step {
  if (reached === "account") return "account";
  const wanted = steps.find((step) => step === asked);
  if (wanted && wanted !== "account") return wanted;
  return reached === "done" ? "provider" : reached;
}

/** The code that a link from the log carries behind `#`; empty where there is none. */
export function codeOf(hash: string): string {
  const code = decodeURIComponent(hash.replace(/^#/, "")).trim();
  return /^[\w-]{4,64}$/.test(code) ? code : "";
}

import type { Schema } from "@/lib/api-client";

/** A step of the page. The server counts `import` as a part of `provider`. */
export type Step = Exclude<Schema<"SetupStage">, "done"> | "import";

/** Returns the steps in order; the import is one of them if there is an earlier installation. */
export function stepsOf(hasImport: boolean): readonly Step[] {
  return hasImport ? ["account", "import", "provider", "try", "apps"] : ["account", "provider", "try", "apps"];
}

const next = { account: "provider", import: "provider", provider: "try", try: "apps", apps: "done" } as const;

/** Returns the next step as the server counts them; `done` after the last. */
export function after(step: Step): (typeof next)[Step] {
  return next[step];
}

/** Whether a step comes after another one; `done` comes after all. */
export function isLater(step: Step | "done", than: Step | "done"): boolean {
  const all = stepsOf(true);
  const rank = (of: Step | "done") => (of === "done" ? all.length : all.indexOf(of));
  return rank(step) > rank(than);
}

/** Returns the step to show: the one that the address names if there is an account, else the one that the server has reached. */
export function shownStep(asked: string | null, reached: Schema<"SetupStage">, hasImport: boolean): Step {
  if (reached === "account") return "account";
  const wanted = stepsOf(hasImport).find((step) => step === asked);
  if (wanted && wanted !== "account") return wanted;
  if (reached === "provider" && hasImport) return "import";
  return reached === "done" ? "provider" : reached;
}

/** Returns the code that a link from the log contains after `#`; empty if there is none. */
export function codeOf(hash: string): string {
  const code = decodeURIComponent(hash.replace(/^#/, "")).trim();
  return /^[\w-]{4,64}$/.test(code) ? code : "";
}

import type { Schema } from "@/lib/api-client";

/** A step of the page. The server counts `import` as a part of `provider`. */
export type Step = Exclude<Schema<"SetupStage">, "done"> | "import";

/** The steps in their order, with the one of an earlier installation if there is one. */
export function stepsOf(hasImport: boolean): readonly Step[] {
  return hasImport ? ["account", "import", "provider", "try", "apps"] : ["account", "provider", "try", "apps"];
}

const next = { account: "provider", import: "provider", provider: "try", try: "apps", apps: "done" } as const;

/** The step behind one as the server counts them; `done` behind the last. */
export function after(step: Step): (typeof next)[Step] {
  return next[step];
}

/** Whether a step lies behind another one. A setup that is done goes nowhere else. */
export function isLater(step: Step | "done", than: Step | "done"): boolean {
  const all = stepsOf(true);
  const rank = (of: Step | "done") => (of === "done" ? all.length : all.indexOf(of));
  return rank(step) > rank(than);
}

/** The step to show: the one of the address as far as there is an account, or the one that the server has come to. */
export function shownStep(asked: string | null, reached: Schema<"SetupStage">, hasImport: boolean): Step {
  if (reached === "account") return "account";
  const wanted = stepsOf(hasImport).find((step) => step === asked);
  if (wanted && wanted !== "account") return wanted;
  if (reached === "provider" && hasImport) return "import";
  return reached === "done" ? "provider" : reached;
}

/** The code that a link from the log carries behind `#`; empty where there is none. */
export function codeOf(hash: string): string {
  const code = decodeURIComponent(hash.replace(/^#/, "")).trim();
  return /^[\w-]{4,64}$/.test(code) ? code : "";
}

import { useEffect, useRef, useState } from "react";
import { type Schema, postForEvents } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";

export type TestStep = Schema<"ProviderTestStep">;
export type TestStage = Schema<"ProviderTestStage">;
export type TestCause = Schema<"ProviderTestCause">;
export type TestOutcome = Schema<"ProviderTestOutcome">;
export type TestRequest = Schema<"ProviderTest">;

/** Progress of a test. */
export interface TestState {
  isRunning: boolean;
  steps: readonly TestStep[];
  outcome: TestOutcome | null;
  /** Why the test could not start or finish. */
  problem: ApiProblem | null;
  /** Whether the user stopped it. */
  isStopped: boolean;
}

export const untested: TestState = { isRunning: false, steps: [], outcome: null, problem: null, isStopped: false };

/** Adds a step or replaces the earlier one of its stage. */
export function withStep(steps: readonly TestStep[], step: TestStep): TestStep[] {
  return steps.some((other) => other.stage === step.stage) ? steps.map((other) => (other.stage === step.stage ? step : other)) : [...steps, step];
}

/**
 * Returns what a stopped test has found out: a working login and a known number of connections are enough to continue. Null if it has not got
 * that far.
 */
export function outcomeSoFar(steps: readonly TestStep[]): TestOutcome | null {
  const ceiling = steps.find((step) => step.stage === "ceiling");
  return ceiling && (ceiling.state === "ok" || ceiling.state === "skipped") ? { ok: true, connections: ceiling.value, bytesPerSecond: null } : null;
}

/** Runs one provider test at a time. Unmounting the component stops it. */
export function useProviderTest() {
  const [state, setState] = useState(untested);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  /** @returns The outcome; null if the test was stopped early or could not run. */
  async function run(request: TestRequest): Promise<TestOutcome | null> {
    running.current?.abort();
    const stop = new AbortController();
    running.current = stop;
    let now: TestState = { ...untested, isRunning: true };
    const show = (change: Partial<TestState>) => {
      now = { ...now, ...change };
      if (running.current === stop) setState(now);
    };
    show({});
    try {
      for await (const { event, data } of postForEvents<TestStep | TestOutcome>("api/providers/test", request, stop.signal)) {
        if (event === "step") show({ steps: withStep(now.steps, data as TestStep) });
        else if (event === "done") show({ outcome: data as TestOutcome });
      }
    } catch (error) {
      if (!stop.signal.aborted) show({ problem: ApiProblem.from(error) });
    }
    const outcome = now.outcome ?? (stop.signal.aborted ? outcomeSoFar(now.steps) : null);
    show({ isRunning: false, outcome, isStopped: stop.signal.aborted });
    return outcome;
  }

  return { ...state, run, stop: () => running.current?.abort(), clear: () => setState(untested) };
}

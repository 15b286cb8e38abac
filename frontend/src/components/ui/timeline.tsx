import { Check, X } from "lucide-react";
import { cx } from "@/lib/cx";
import { formatDuration } from "@/lib/format";
import { Icon } from "./icon";
import { Spinner } from "./spinner";

/** A step of a longer process. */
export interface TimelineStep {
  label: string;
  state: "pending" | "running" | "done" | "failed";
  /** Name of the state, for screen readers. */
  stateLabel: string;
  /** Duration, until now if it is running; null before it begins. */
  ms: number | null;
  /** Result of the step; may be empty. */
  detail: string;
}

/** Steps in order, each with its state and duration. */
export function Timeline({ label, steps }: { label: string; steps: readonly TimelineStep[] }) {
  return (
    <ol aria-label={label} className="grid">
      {steps.map((step, at) => (
        <li key={step.label} className="relative flex gap-3 pb-3 last:pb-0">
          {at < steps.length - 1 && <span aria-hidden className="absolute start-[0.6875rem] top-6 bottom-0 w-px bg-line" />}
          <Mark state={step.state} />
          <div className="min-w-0 flex-1">
            <p className="flex items-baseline justify-between gap-3">
              <span className={cx("font-medium", step.state === "pending" && "text-muted")}>
                {step.label}
                <span className="sr-only">{` (${step.stateLabel})`}</span>
              </span>
              {step.ms !== null && <span className="shrink-0 text-sm text-muted tabular-nums">{formatDuration(step.ms)}</span>}
            </p>
            {step.detail && <p className="text-sm text-muted wrap-anywhere">{step.detail}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}

const marks: Record<TimelineStep["state"], string> = {
  pending: "border-line text-muted",
  running: "border-accent text-accent",
  done: "border-ok bg-ok-soft text-ok",
  failed: "border-bad bg-bad-soft text-bad",
};

function Mark({ state }: { state: TimelineStep["state"] }) {
  return (
    <span className={cx("flex size-[1.375rem] shrink-0 items-center justify-center rounded-full border", marks[state])}>
      {state === "done" && <Icon of={Check} size={12} />}
      {state === "failed" && <Icon of={X} size={12} />}
      {state === "running" && <Spinner />}
    </span>
  );
}

const segments: Record<TimelineStep["state"], string> = { pending: "bg-line", running: "bg-accent animate-breathe", done: "bg-ok", failed: "bg-bad" };

/** The states of the steps as a strip of one line, for rows of a table; the words are next to it. */
export function TimelineStrip({ states }: { states: readonly TimelineStep["state"][] }) {
  return (
    <span aria-hidden className="flex w-full gap-0.5">
      {states.map((state, at) => (
        <span key={at} className={cx("h-1.5 min-w-1.5 flex-1 rounded-full", segments[state])} />
      ))}
    </span>
  );
}

import { Check, Circle, Minus, X } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { Notice } from "@/components/ui/notice";
import { Spinner } from "@/components/ui/spinner";
import { cx } from "@/lib/cx";
import { formatDuration, formatRate } from "@/lib/format";
import { t } from "./en";
import type { TestCause, TestStage, TestState, TestStep } from "./use-provider-test";

/** Targets of the button below a cause. */
export type TestAction = "host" | "port" | "tls-port" | "tls-on" | "certificate" | "login" | "password" | "again";

/** The action that resolves each cause. */
export const actionOf: Record<TestCause, TestAction> = {
  "unknown-host": "host",
  "forbidden-address": "host",
  "connection-refused": "port",
  silent: "port",
  "plain-port": "tls-port",
  "tls-port": "tls-on",
  "bad-certificate": "certificate",
  "not-nntp": "port",
  "wrong-login": "login",
  "account-expired": "again",
  "too-many-connections": "again",
  refused: "again",
  "password-needed": "password",
};

const stages: readonly TestStage[] = ["dns", "tcp", "tls", "login", "ceiling", "speed"];

/** The steps of a test as they finish, with advice on a failed one. */
export function TestWalk({ test, hasTls, onAction }: { test: TestState; hasTls: boolean; onAction: (action: TestAction) => void }) {
  if (!test.isRunning && test.steps.length === 0 && !test.problem) return null;
  const failed = test.steps.find((step) => step.state === "failed");
  const isLost = !test.isRunning && !failed && !test.outcome && !test.problem && !test.isStopped;
  return (
    <div className="grid gap-3">
      <ol aria-label={t("walk")} className="grid gap-px overflow-hidden rounded-lg border border-line bg-line">
        {stages
          .filter((stage) => stage !== "tls" || hasTls || test.steps.some((step) => step.stage === "tls"))
          .map((stage) => (
            <Row key={stage} stage={stage} step={test.steps.find((step) => step.stage === stage)} />
          ))}
      </ol>
      <div aria-live="polite" className="grid gap-3">
        {failed && <Cause step={failed} onAction={onAction} />}
        {test.problem && (
          <Notice tone="bad" isAlert actions={<Again onAction={onAction} />}>
            {test.problem.title}
          </Notice>
        )}
        {isLost && (
          <Notice tone="bad" isAlert actions={<Again onAction={onAction} />}>
            {t("test-lost")}
          </Notice>
        )}
        {test.isStopped && !test.outcome && <Notice>{t("test-stopped")}</Notice>}
        {test.outcome?.ok && <Notice tone="ok">{t("outcome-ok")}</Notice>}
      </div>
    </div>
  );
}

function Row({ stage, step }: { stage: TestStage; step: TestStep | undefined }) {
  const state = step?.state ?? "pending";
  return (
    <li className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-0.5 bg-surface px-3 py-1.5">
      <Mark state={state} />
      <span className={cx("font-medium", state === "pending" && "text-muted")}>{t(`stage.${stage}`)}</span>
      <span className="sr-only">{t(`state.${state}`)}</span>
      <span className="ms-auto text-end text-sm text-muted tabular-nums">
        {step && state !== "running" && state !== "failed" && <Found step={step} />}
      </span>
      {step?.state === "skipped" && step.sentence && <span className="basis-full ps-7 text-sm text-muted">{step.sentence}</span>}
    </li>
  );
}

function Found({ step }: { step: TestStep }) {
  if (step.state === "skipped") return t("state.skipped");
  if (step.stage === "ceiling" && step.value !== null) return t("value.ceiling", { count: step.value });
  if (step.stage === "speed" && step.value !== null) return formatRate(step.value);
  return formatDuration(step.ms);
}

function Mark({ state }: { state: TestStep["state"] | "pending" }) {
  if (state === "running") return <span className="text-accent"><Spinner /></span>;
  const look = { pending: [Circle, "text-line-strong"], ok: [Check, "text-ok"], failed: [X, "text-bad"], skipped: [Minus, "text-muted"] } as const;
  const [icon, className] = look[state];
  return <Icon of={icon} className={className} />;
}

function Cause({ step, onAction }: { step: TestStep; onAction: (action: TestAction) => void }) {
  const cause = step.cause ?? "refused";
  const action = actionOf[cause];
  return (
    <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => onAction(action)}>{t(`action.${action}`)}</Button>}>
      <p className="font-medium">{t(`cause.${cause}`)}</p>
      <p>{t(`advice.${cause}`)}</p>
      {step.sentence && <p className="mt-1 text-sm text-muted">{step.sentence}</p>}
    </Notice>
  );
}

function Again({ onAction }: { onAction: (action: TestAction) => void }) {
  return (
    <Button size="sm" onClick={() => onAction("again")}>
      {t("action.again")}
    </Button>
  );
}

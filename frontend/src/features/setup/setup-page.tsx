import { Check } from "lucide-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { Button, buttonClass } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Icon } from "@/components/ui/icon";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { api, dataOf, type Schema } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { cx } from "@/lib/cx";
import { sessionQuery, setupQuery } from "@/lib/session";
import { AccountStep } from "./account-step";
import { importQuery } from "./api/import";
import { t } from "./en";
import { ImportCard } from "./import-card";
import { type Step, after, codeOf, isLater, shownStep, stepsOf } from "./steps";
import { TryStep } from "./try-step";

interface SetupPageProps {
  /** Renders the provider step, which continues by itself. */
  provider: (onDone: () => void) => ReactNode;
  /** The cards of the programs. */
  apps: ReactNode;
}

/**
 * The setup: four steps, of which only the first is required, and one more if an earlier installation can be imported. It continues where the user
 * left it, and can be run again.
 */
export function SetupPage({ provider, apps }: SetupPageProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { hash } = useLocation();
  const [search, setSearch] = useSearchParams();
  const setup = useQuery(setupQuery);
  const code = codeOf(hash);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const reached = setup.data?.step;
  const found = useQuery({ ...importQuery, enabled: reached !== undefined && reached !== "account" });
  const hasImport = found.isError || (found.data !== undefined && found.data.state !== "none");
  const isWaiting = reached !== "account" && found.isPending;
  const step = reached && !isWaiting ? shownStep(search.get("step"), reached, hasImport) : undefined;
  const shown = useRef(step);

  useEffect(() => {
    if (shown.current && step !== shown.current) heading.current?.focus();
    shown.current = step ?? shown.current;
  }, [step]);

  if (!reached || !step) return <SkeletonRows rows={4} />;

  async function go(next: Exclude<Schema<"SetupStage">, "account">) {
    setProblem(null);
    try {
      const now = client.getQueryData(setupQuery.queryKey)?.step ?? "account";
      if (isLater(next, now)) {
        client.setQueryData(setupQuery.queryKey, await dataOf(api.PUT("/api/setup", { body: { step: next } })));
        client.setQueryData(sessionQuery.queryKey, (session) => session && { ...session, setup: next });
      }
      if (next === "done") await navigate("/");
      else setSearch({ step: next });
    } catch (error) {
      setProblem(ApiProblem.from(error));
    }
  }

  const steps = stepsOf(hasImport);
  const onward = () => void go(after(step));
  return (
    <div className="grid gap-5">
      <StepList steps={steps} current={step} isDone={(of) => (of === "import" ? found.data?.state === "finished" : isLater(reached, of))} onStep={(to) => setSearch({ step: to })} />
      <Card>
        <header className="mb-5 grid gap-1">
          <p className="text-sm text-muted">{t("step-of", { at: steps.indexOf(step) + 1, count: steps.length })}</p>
          <h2 ref={heading} tabIndex={-1} className="text-xl font-semibold outline-none">
            {t(`step.${step}`)}
          </h2>
          <p className="text-muted text-pretty">{t(`about.${step}`)}</p>
        </header>
        {problem && (
          <div className="mb-4">
            <Notice tone="bad" isAlert>
              {problem.title}
            </Notice>
          </div>
        )}
        {step === "account" && <AccountStep key={code} code={code} onDone={() => setSearch({})} />}
        {step === "import" && <ImportCard />}
        {step === "provider" && provider(onward)}
        {step === "try" && <TryStep />}
        {step === "apps" && apps}
        {(step === "import" || step === "try" || step === "apps") && (
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            {step !== "import" && (
              <button type="button" className={buttonClass("quiet", "lg")} onClick={() => setSearch({ step: step === "apps" ? "try" : "provider" })}>
                {t("back")}
              </button>
            )}
            <Button tone={step === "import" && found.data?.state !== "finished" ? "quiet" : "accent"} size="lg" onClick={onward}>
              {step === "apps" ? t("finish") : t("continue")}
            </Button>
          </div>
        )}
      </Card>
      {step !== "account" && (
        <Button tone="quiet" className="justify-self-center" onClick={() => void go("done")}>
          {t("to-home")}
        </Button>
      )}
    </div>
  );
}

interface StepListProps {
  steps: readonly Step[];
  current: Step;
  isDone: (step: Step) => boolean;
  onStep: (step: Step) => void;
}

function StepList({ steps, current, isDone: isStepDone, onStep }: StepListProps) {
  return (
    <nav aria-label={t("steps")}>
      <ol className={cx("grid gap-2", steps.length === 5 ? "grid-cols-5" : "grid-cols-4")}>
        {steps.map((step, index) => {
          const isDone = isStepDone(step);
          const isOpen = step !== "account" && current !== "account";
          return (
            <li key={step}>
              <button
                type="button"
                disabled={!isOpen}
                aria-current={step === current ? "step" : undefined}
                onClick={() => onStep(step)}
                className={cx(
                  "flex min-h-11 w-full flex-col items-center gap-1 border-t-3 pt-2 text-sm font-medium",
                  step === current ? "border-accent text-ink" : isDone ? "border-ok text-muted" : "border-line text-muted",
                  isOpen && "enabled:hover:text-ink",
                )}
              >
                <span className={cx("flex items-center gap-1.5", steps.length === 5 && "max-sm:flex-col max-sm:gap-0 max-sm:text-xs")}>
                  {isDone && step !== current ? <Icon of={Check} size={14} className="text-ok" /> : <span aria-hidden>{index + 1}</span>}
                  {t(`step.${step}`)}
                </span>
                {isDone && step !== current && <span className="sr-only">{t("step-done")}</span>}
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

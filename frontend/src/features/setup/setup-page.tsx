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
import { t } from "./en";
import { ImportCard } from "./import-card";
import { type Step, after, codeOf, isLater, shownStep, steps } from "./steps";
import { TryStep } from "./try-step";

interface SetupPageProps {
  /** The step of the provider, which goes on by itself. */
  provider: (onDone: () => void) => ReactNode;
  /** The cards of programs. */
  apps: ReactNode;
}

/** The setup: four steps, of which the first has to be taken. It goes on where it was left, and may be run again. */
export function SetupPage({ provider, apps }: SetupPageProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { hash } = useLocation();
  const [search, setSearch] = useSearchParams();
  const setup = useQuery(setupQuery);
  const [code] = useState(() => codeOf(hash));
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const reached = setup.data?.step;
  const step = reached && shownStep(search.get("step"), reached);
  const [first] = useState(step);

  useEffect(() => {
    if (step && step !== first) heading.current?.focus();
  }, [step, first]);

  if (!reached || !step) return <SkeletonRows rows={4} />;

  async function go(next: Schema<"SetupStage">) {
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

  const onward = () => void go(after(step));
  return (
    <div className="grid gap-5">
      <StepList current={step} reached={reached} onStep={(to) => setSearch({ step: to })} />
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
        {step === "account" && <AccountStep code={code} onDone={() => setSearch({ step: "provider" })} />}
        {step === "provider" && (
          <div className="grid gap-5">
            <ImportCard />
            {provider(onward)}
          </div>
        )}
        {step === "try" && <TryStep />}
        {step === "apps" && apps}
        {(step === "try" || step === "apps") && (
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <button type="button" className={buttonClass("quiet", "lg")} onClick={() => setSearch({ step: step === "apps" ? "try" : "provider" })}>
              {t("back")}
            </button>
            <Button tone="accent" size="lg" onClick={onward}>
              {step === "apps" ? t("finish") : t("continue")}
            </Button>
          </div>
        )}
      </Card>
      {step !== "account" && (
        <Button tone="quiet" className="justify-self-center" onClick={() => void go("done")}>
          {t("to-overview")}
        </Button>
      )}
    </div>
  );
}

function StepList({ current, reached, onStep }: { current: Step; reached: Schema<"SetupStage">; onStep: (step: Step) => void }) {
  return (
    <nav aria-label={t("steps")}>
      <ol className="grid grid-cols-4 gap-2">
        {steps.map((step, index) => {
          const isDone = isLater(reached, step);
          const isOpen = step !== "account" && reached !== "account";
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
                <span className="flex items-center gap-1.5">
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

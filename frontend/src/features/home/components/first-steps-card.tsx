import { Circle, CircleCheck, Play } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "@/components/ui/badge";
import { ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Icon } from "@/components/ui/icon";
import type { Schema } from "@/lib/api-client";
import { t } from "../first-steps-en";

// File id of the built-in clip (DAV-7).
const clipId = "d3305eed-0000-4000-8000-511ce0000001";

/** The open and finished steps of the first evening. */
export function FirstStepsCard({ steps }: { steps: Schema<"FirstSteps"> }) {
  const { hasProvider, hasPlayed, hasApp } = steps;
  const done = [hasProvider, hasPlayed, hasApp].filter(Boolean).length;
  return (
    <Card title={t("first-steps")} actions={<Badge tone="accent">{t("steps-done", { done })}</Badge>} isFlush>
      <ol className="mt-1 grid lg:grid-cols-3">
        <Step isDone={hasProvider} title={t("step-provider")} help={t("step-provider-help")}>
          <ButtonLink size="sm" tone="accent" to="/settings/providers">
            {t("add-one")}
          </ButtonLink>
        </Step>
        <Step isDone={hasPlayed} title={t("step-play")} help={t("step-play-help")}>
          <ButtonLink size="sm" icon={Play} to={`/files?play=${clipId}`}>
            {t("play-clip")}
          </ButtonLink>
        </Step>
        <Step isDone={hasApp} title={t("step-app")} help={t("step-app-help")}>
          <ButtonLink size="sm" to="/setup">
            {t("connect-app")}
          </ButtonLink>
        </Step>
      </ol>
    </Card>
  );
}

function Step({ isDone, title, help, children }: { isDone: boolean; title: string; help: string; children: ReactNode }) {
  return (
    <li className="flex gap-3 border-t border-line px-4 py-3.5">
      <Icon of={isDone ? CircleCheck : Circle} size={20} className={isDone ? "mt-0.5 text-ok" : "mt-0.5 text-line-strong"} />
      <div className="grid min-w-0 content-start gap-1">
        <p className="font-medium">
          <span className="sr-only">{`${isDone ? t("step-done") : t("step-open")} `}</span>
          {title}
        </p>
        {!isDone && <p className="text-sm text-muted text-pretty">{help}</p>}
        {!isDone && <div className="mt-1.5">{children}</div>}
      </div>
    </li>
  );
}

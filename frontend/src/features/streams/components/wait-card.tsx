import { Badge } from "@/components/ui/badge";
import { ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import type { Schema } from "@/lib/api-client";
import { formatTime } from "@/lib/format";
import { t } from "../en";
import { isHoldUp, waitNumber, waitWays } from "../wait";

/** Why a playback does not get on: in a sentence, with its number, its cause and what can be done. */
export function WaitCard({ wait }: { wait: Schema<"StreamWait"> }) {
  const { reason, since } = wait;
  const number = waitNumber(wait);
  const way = waitWays[reason];
  return (
    <Card title={t("wait")}>
      <div className="grid gap-2">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 text-lg font-semibold text-pretty wrap-anywhere">{t(`wait.${reason}.sentence`)}</span>
          {number !== "" && <Badge tone={isHoldUp(reason) ? "warn" : "neutral"}>{number}</Badge>}
          {isHoldUp(reason) && <span className="text-sm text-muted tabular-nums">{t("wait-since", { time: formatTime(since) })}</span>}
        </p>
        <p className="text-muted text-pretty">{t(`wait.${reason}.cause`)}</p>
        {reason !== "none" && (
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
            <p className="min-w-0 flex-1 basis-56 text-pretty">
              <span className="text-muted">{`${t("what-to-do")}: `}</span>
              {t(`wait.${reason}.action`)}
            </p>
            {way && (
              <ButtonLink size="sm" to={way.to}>
                {t(`go.${way.name}`)}
              </ButtonLink>
            )}
          </div>
        )}
      </div>
    </Card>
  );
}

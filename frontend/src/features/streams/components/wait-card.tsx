import { Badge } from "@/components/ui/badge";
import { ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import type { Schema } from "@/lib/api-client";
import { formatTime } from "@/lib/format";
import { type Mood, isHoldUp } from "@/lib/playback";
import { t } from "../en";
import { waitNumber, waitWays } from "../wait";

/** Explains why a playback waits: a sentence, its number, the cause and advice. Also says if it does not wait. */
export function WaitCard({ wait, mood }: { wait: Schema<"StreamWait">; mood: Mood }) {
  const { reason, since } = wait;
  const isWaiting = isHoldUp(reason) && mood !== "paused" && mood !== "ended";
  if (!isWaiting) {
    return (
      <Card title={t("wait-none")}>
        <p className="text-muted text-pretty">{t(mood === "ended" ? "wait-ended" : mood === "paused" ? "wait.player-slow.sentence" : "wait.none.cause")}</p>
      </Card>
    );
  }
  const number = waitNumber(wait);
  const way = waitWays[reason];
  return (
    <Card title={t(mood === "slowed" ? "wait-slowed" : "wait")}>
      <div className="grid gap-2">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 text-lg font-semibold text-pretty wrap-anywhere">{t(`wait.${reason}.sentence`)}</span>
          {number !== "" && <Badge tone={mood === "slowed" ? "neutral" : "warn"}>{number}</Badge>}
          <span className="text-sm text-muted tabular-nums">{t("wait-since", { time: formatTime(since) })}</span>
        </p>
        <p className="text-muted text-pretty">{t(`wait.${reason}.cause`)}</p>
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
      </div>
    </Card>
  );
}

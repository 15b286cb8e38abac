import { useEffect, useEffectEvent, useState } from "react";
import { Button } from "@/components/ui/button";
import { Menu } from "@/components/ui/menu";
import { attempt } from "@/lib/attempt";
import { formatDuration } from "@/lib/format";
import { useLevelChange } from "../api/log";
import { t } from "../en";
import type { Level } from "../lines";

interface LevelControlProps {
  level: Level;
  /** The end of a raised level; null if it is not raised. */
  until: string | null;
  /** Called when the raised level ends. */
  onOver: () => void;
}

/** Shows the log level, and raises it for a quarter of an hour. */
export function LevelControl({ level, until, onOver }: LevelControlProps) {
  const change = useLevelChange();
  function record(next: Level | null) {
    void attempt(change.mutateAsync(next), t("record-failed"));
  }
  const items = (["debug", "trace"] as const).map((name) => ({ label: t(`record-${name}`), isChosen: until !== null && level === name, onSelect: () => record(name) }));
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
      <span className="sr-only text-muted sm:not-sr-only">{t("recording")}</span>
      {t("recording-level", { level: t(`level.${level}`) })}
      {until !== null && <Countdown key={until} until={until} onOver={onOver} />}
      {until !== null ? (
        <Button size="sm" isBusy={change.isPending} onClick={() => record(null)}>
          {t("record-stop")}
        </Button>
      ) : (
        <Menu
          label={t("record-more")}
          items={items}
          trigger={(wiring) => (
            <Button size="sm" isBusy={change.isPending} {...wiring}>
              {t("record-more")}
            </Button>
          )}
        />
      )}
    </span>
  );
}

/** The time until the raised level ends. */
function Countdown({ until, onOver }: { until: string; onOver: () => void }) {
  const [now, setNow] = useState(() => Date.now());
  const left = Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000));
  const isOver = left === 0;
  const tell = useEffectEvent(onOver);
  useEffect(() => {
    if (isOver) return tell();
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOver]);
  return <span className="text-warn tabular-nums">{t("record-left", { time: formatDuration(left * 1_000) })}</span>;
}

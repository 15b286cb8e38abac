import { ChevronDown, ListOrdered, Pause } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { Icon } from "@/components/ui/icon";
import { Progress } from "@/components/ui/progress";
import { Sparkline } from "@/components/ui/sparkline";
import type { Schema } from "@/lib/api-client";
import { cx } from "@/lib/cx";
import { formatPercent, formatRate, rateUnit } from "@/lib/format";
import { usePreference } from "@/lib/preference";
import { steadyOf } from "@/lib/steady";
import { t } from "../en";

const line =
  "flex min-h-14 min-w-0 items-center gap-3 rounded-xl border border-line bg-surface px-4 py-2 text-start shadow-card transition-colors hover:bg-hover";

/** The state of the queue in one line that links to it. */
export function QueueLine({ queue }: { queue: Schema<"HomeQueue"> }) {
  const { count, running, paused, name, percent } = queue;
  const waiting = Math.max(0, count - running);
  return (
    <Link to="/queue" className={line}>
      <Icon of={paused ? Pause : ListOrdered} size={18} className={paused ? "text-warn" : "text-muted"} />
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">
          {count === 0 ? t("queue-empty") : paused ? t("queue-paused") : name === null ? t("queue-waiting") : t("queue-importing", { name })}
        </span>
        {count > 0 && <span className="block truncate text-sm text-muted tabular-nums">{t("queue-count", { count: name === null ? count : waiting })}</span>}
      </span>
      {!paused && percent !== null && (
        <span className="flex w-28 items-center gap-2 text-sm text-muted tabular-nums">
          <Progress label={t("queue-progress")} percent={percent} className="flex-1" />
          {formatPercent(percent)}
        </span>
      )}
    </Link>
  );
}

type Strip = Schema<"HomeStrip">;
type Sample = Schema<"StatSample">;

/** The last ten minutes as sixty points; opens the chart. */
export function ThroughputStrip({ strip, sample, isOpen, onToggle }: { strip: Strip; sample: Sample | undefined; isOpen: boolean; onToggle: () => void }) {
  usePreference(rateUnit);
  const { points, now } = useStrip(strip, sample);
  const kilo = 1_000;
  const rate = now?.fromProviders ?? kilo * (points.at(-1) ?? 0);
  return (
    <button type="button" aria-expanded={isOpen} onClick={onToggle} className={cx(line, "w-full")}>
      <span className="font-medium whitespace-nowrap">{t("throughput")}</span>
      <span className="min-w-0 flex-1">
        <Sparkline label={t("strip", { rate: formatRate(rate) })} values={points} max={Math.max(kilo, ...points)} />
      </span>
      <span className="w-20 text-end text-sm font-medium whitespace-nowrap tabular-nums">{formatRate(rate)}</span>
      <Icon of={ChevronDown} className={cx("text-muted transition-transform", isOpen && "rotate-180")} />
    </button>
  );
}

/** Returns the points of the answer, and one more for every ten seconds of samples since. */
function useStrip(strip: Strip, sample: Sample | undefined): { points: readonly number[]; now: Sample | undefined } {
  const [state, setState] = useState<{ strip: Strip; points: readonly number[]; seconds: readonly Sample[]; recent: readonly Sample[] }>({
    strip, points: strip.fromProviders, seconds: [], recent: [],
  });
  const isNewStrip = state.strip !== strip;
  const isNewSample = sample !== undefined && sample.at !== state.recent.at(-1)?.at;
  if (isNewStrip || isNewSample) {
    const recent = isNewSample ? [...state.recent.slice(1 - strip.step), sample] : state.recent;
    const seconds = isNewStrip ? [] : isNewSample ? [...state.seconds, sample] : state.seconds;
    const points = isNewStrip ? strip.fromProviders : state.points;
    const isPoint = seconds.length >= strip.step;
    const mean = seconds.reduce((sum, one) => sum + one.fromProviders, 0) / Math.max(1, seconds.length) / 1_000;
    setState({ strip, recent, seconds: isPoint ? [] : seconds, points: isPoint ? [...points.slice(1), Math.round(mean)] : points });
  }
  return { points: state.points, now: steadyOf(state.recent) };
}

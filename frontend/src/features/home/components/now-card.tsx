import { Pause, Play } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Chart } from "@/components/ui/chart";
import type { Series } from "@/components/ui/chart-props";
import { Segments } from "@/components/ui/tabs";
import type { Schema } from "@/lib/api-client";
import { formatDuration, formatNumber, formatPercent, formatRate, rateUnit } from "@/lib/format";
import { usePreference } from "@/lib/preference";
import { steadyOf } from "@/lib/steady";
import { t } from "../en";
import { type Samples, type StatSample, type StatWindow, columnsOf, windows } from "../samples";

interface NowCardProps {
  stats: Samples & { now: StatSample; figures: Schema<"StatFigures"> };
  window: StatWindow;
  onWindow: (window: StatWindow) => void;
  isPaused: boolean;
  onPause: (isPaused: boolean) => void;
}

const names = Object.keys(windows) as StatWindow[];
/** The throughput of a window and the current figures. */
export function NowCard({ stats, window, onWindow, isPaused, onPause }: NowCardProps) {
  usePreference(rateUnit);
  const { samples } = stats;
  const { times, series } = useMemo(() => curvesOf(samples, window), [samples, window]);
  return (
    <Card
      title={t("now")}
      actions={
        <>
          {isPaused && <Badge tone="warn">{t("paused")}</Badge>}
          <Button size="sm" icon={isPaused ? Play : Pause} aria-pressed={isPaused} title={t("pause-help")} onClick={() => onPause(!isPaused)}>
            {isPaused ? t("resume") : t("pause")}
          </Button>
          <Segments label={t("window")} options={names.map((name) => ({ name, label: t(`window.${name}`) }))} current={window} onChange={onWindow} />
        </>
      }
    >
      <div className="grid gap-5">
        <Figures stats={stats} />
        <Chart label={t("throughput")} times={times} series={series} format={formatRate} floor={1_000_000} height={220} />
      </div>
    </Card>
  );
}

function curvesOf(samples: readonly StatSample[], window: StatWindow): { times: number[]; series: Series[] } {
  const { times, rows } = columnsOf(samples, window);
  const values = (of: (sample: StatSample) => number) => rows.map((row) => row && of(row));
  return {
    times,
    series: [
      { name: t("from-providers"), color: "accent", isFilled: true, values: values((sample) => sample.fromProviders) },
      { name: t("to-players"), color: "ok", values: values((sample) => sample.toPlayers) },
      { name: t("from-cache"), color: "warn", isDashed: true, values: values((sample) => sample.fromCache) },
    ],
  };
}

function Figures({ stats: { now: second, pending, samples, figures } }: Pick<NowCardProps, "stats">) {
  // Pending samples and those of the shortest window are one second apart.
  const now = steadyOf(pending.length > 0 ? pending : samples.slice(-10)) ?? second;
  const { cacheHitPercent, firstByteP50, firstByteP95, limitBytesPerSecond } = figures;
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-4 sm:grid-cols-3 xl:grid-cols-6">
      <Figure
        label={t("from-providers")}
        value={formatRate(now.fromProviders)}
        note={limitBytesPerSecond === null ? undefined : t("limited-to", { rate: formatRate(limitBytesPerSecond) })}
      />
      <Figure label={t("to-players")} value={formatRate(now.toPlayers)} note={`${t("from-cache")}: ${formatRate(now.fromCache)}`} />
      <Figure label={t("figure-streams")} value={formatNumber(now.streams)} />
      <Figure label={t("figure-connections")} value={formatNumber(now.connectionsUsed)} unit={t("of-max", { max: now.connectionsMax })} />
      <Figure
        label={t("figure-cache")}
        value={cacheHitPercent === null ? t("none") : formatPercent(cacheHitPercent)}
        note={cacheHitPercent === null ? t("no-reads-yet") : t("cache-help")}
      />
      <Figure
        label={t("figure-first-byte")}
        value={firstByteP50 === null ? t("none") : formatDuration(firstByteP50)}
        note={firstByteP95 === null ? t("no-reads-yet") : t("first-byte-95", { time: formatDuration(firstByteP95) })}
      />
    </dl>
  );
}

function Figure({ label, value, unit, note }: { label: string; value: ReactNode; unit?: string; note?: string }) {
  return (
    <div className="min-w-0">
      <dt className="truncate text-sm text-muted">{label}</dt>
      <dd className="text-xl font-semibold tracking-tight whitespace-nowrap tabular-nums">
        {value}
        {unit && <span className="ms-1.5 text-sm font-normal tracking-normal text-muted">{unit}</span>}
      </dd>
      {note && <dd className="text-xs text-muted tabular-nums">{note}</dd>}
    </div>
  );
}

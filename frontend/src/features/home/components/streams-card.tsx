import { ChevronRight, Clapperboard, ScanSearch } from "lucide-react";
import { memo } from "react";
import { Link } from "react-router";
import { Badge, type Tone } from "@/components/ui/badge";
import { ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { LoadFailure } from "@/components/ui/load-failure";
import { Icon } from "@/components/ui/icon";
import { Progress } from "@/components/ui/progress";
import type { Schema } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { formatBytes, formatDuration, formatNumber, formatPercent, formatRate, rateUnit } from "@/lib/format";
import { type Mood, bufferedText, moodOf } from "@/lib/playback";
import { playedName } from "@/lib/played-name";
import { usePreference } from "@/lib/preference";
import { t } from "../en";
import { Fact, Vacant, rowClass } from "./fact";

type StreamRow = Schema<"StreamRow">;
type ScanRow = Schema<"ScanRow">;

interface StreamsCardProps {
  /** Undefined where they could not be had. */
  rows: { items: readonly StreamRow[]; scans: readonly ScanRow[] } | undefined;
  error: Error | null;
  onRetry: () => void;
}

/** A row for each playback, which stays in its place while it lasts, and a line for each scan of the library. */
export const StreamsCard = memo(function StreamsCard({ rows, error, onRetry }: StreamsCardProps) {
  usePreference(rateUnit);
  if (!rows) {
    return (
      <Card title={t("streams")}>
        <LoadFailure problem={ApiProblem.from(error)} onRetry={onRetry} isLine />
      </Card>
    );
  }
  const items = [...rows.items].sort((a, b) => b.startedAt.localeCompare(a.startedAt) || a.id.localeCompare(b.id));
  return (
    <Card title={t("streams")} isFlush>
      {items.length === 0 ? (
        <Vacant icon={Clapperboard} title={t("no-streams")} action={<ButtonLink to="/files">{t("open-files")}</ButtonLink>}>
          {t("no-streams-help")}
        </Vacant>
      ) : (
        <ul className="mt-1">
          {items.map((row) => (
            <Stream key={row.id} row={row} />
          ))}
        </ul>
      )}
      {rows.scans.length > 0 && (
        <ul className="grid gap-1 border-t border-line px-4 py-3">
          {rows.scans.map((scan) => (
            <li key={`${scan.client} ${scan.player}`} className="flex items-start gap-2 text-sm text-muted">
              <Icon of={ScanSearch} size={14} className="mt-1" />
              <span className="min-w-0 wrap-anywhere">{t("scan", { count: scan.files, client: clientOf(scan), bytes: formatBytes(scan.bytesSent) })}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
});

function clientOf({ client, player }: { client: string; player: string }): string {
  return t("client", { player: player === "" ? t("unknown-player") : player, address: client });
}

/** The whole row leads to the page of the playback. */
function Stream({ row }: { row: StreamRow }) {
  const { title, file } = playedName(row.file);
  const percent = row.file.bytes > 0 ? (100 * row.position) / row.file.bytes : 0;
  return (
    <li className={`${rowClass} relative transition-colors hover:bg-hover`}>
      <div className="min-w-0">
        <Link
          to={`/streams/${encodeURIComponent(row.id)}`}
          className="block min-h-6 touch:min-h-11 touch:leading-11 truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          title={row.file.path}
        >
          {title}
        </Link>
        {file !== null && <p className="truncate text-sm text-muted">{file}</p>}
        <p className="truncate text-sm text-muted">{clientOf(row)}</p>
      </div>
      <div className="grid min-w-0 gap-1.5">
        <Progress label={t("position")} percent={percent} tone={row.state === "ended" ? "neutral" : "accent"} />
        <p className="truncate text-sm text-muted tabular-nums">{t("position-of", { percent: formatPercent(percent), bytes: formatBytes(row.file.bytes) })}</p>
      </div>
      <dl className="hidden grid-cols-4 gap-x-3 sm:grid md:col-span-full xl:col-span-1">
        <Fact label={t("rate")} value={rateOf(row)} />
        <Fact label={t("ahead")} value={bufferedText(row)} />
        <Fact label={t("first-byte")} value={row.firstByteMs === null ? t("none") : formatDuration(row.firstByteMs)} />
        <Fact label={t("seeks")} value={formatNumber(row.seeks)} />
      </dl>
      <p className="flex items-center justify-between gap-2 md:col-span-full xl:col-span-1 xl:w-48">
        <State row={row} />
        <span className="ms-auto tabular-nums sm:hidden">{rateOf(row)}</span>
        <Icon of={ChevronRight} className="text-muted rtl:-scale-x-100" />
      </p>
    </li>
  );
}

/** Over the last ten seconds; nothing where nothing was read, which is no rate. */
function rateOf({ bytesPerSecond }: StreamRow): string {
  return bytesPerSecond === 0 ? t("none") : formatRate(bytesPerSecond);
}

const tones: Record<Mood, Tone> = {
  ended: "neutral", paused: "neutral", starting: "neutral", gaps: "bad", stalled: "warn", slowed: "ok", tight: "ok", whole: "ok", good: "ok",
};

/** What it does, or why it waits. */
function State({ row }: { row: StreamRow }) {
  const mood = moodOf(row);
  if (mood === "stalled") return <Badge tone={row.wait === "provider-down" ? "bad" : "warn"}>{t(`wait.${row.wait}`)}</Badge>;
  return <Badge tone={tones[mood]}>{t(`state.${row.state}`)}</Badge>;
}

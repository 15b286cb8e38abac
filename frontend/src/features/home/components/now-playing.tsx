import { Clapperboard, ReceiptText, ScanSearch } from "lucide-react";
import { memo } from "react";
import { Link } from "react-router";
import { Badge, type Tone } from "@/components/ui/badge";
import { ButtonLink } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { Progress } from "@/components/ui/progress";
import type { Schema } from "@/lib/api-client";
import { filmLine, filmName } from "@/lib/film";
import { formatBytes, formatPercent, formatPosition, formatRate, rateUnit } from "@/lib/format";
import { type Mood, bufferedText, moodOf } from "@/lib/playback";
import { playedName } from "@/lib/played-name";
import { usePreference } from "@/lib/preference";
import { paintMark, useQuiet } from "../api/quiet";
import { t } from "../en";
import { FilmArt } from "./film-art";

type StreamRow = Schema<"StreamRow">;

interface NowPlayingProps {
  items: readonly StreamRow[];
  pictures: readonly Schema<"HomePicture">[];
  scans: readonly Schema<"ScanRow">[];
}

/** A card for each playback, in a stable order, and a line for each scan of the library. */
export const NowPlaying = memo(function NowPlaying({ items: rows, pictures, scans }: NowPlayingProps) {
  const isQuiet = useQuiet();
  usePreference(rateUnit);
  const items = [...rows].sort((a, b) => b.startedAt.localeCompare(a.startedAt) || a.id.localeCompare(b.id));
  return (
    <section aria-labelledby="playing-title" className="grid gap-3">
      <div className="flex items-center gap-3">
        <h2 {...paintMark} id="playing-title" className="me-auto text-lg font-semibold">
          {t("streams")}
        </h2>
        <ButtonLink size="sm" tone="quiet" icon={ReceiptText} to="/streams/receipts">
          {t("receipts")}
        </ButtonLink>
      </div>
      {items.length === 0 && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-3 rounded-xl border border-dashed border-line-strong/50 px-4 py-4">
          <Icon of={Clapperboard} size={20} className="text-muted" />
          <div className="min-w-0 flex-1 basis-48">
            <p className="font-medium">{t("no-streams")}</p>
            <p className="text-sm text-muted text-pretty">{t("no-streams-help")}</p>
          </div>
          <ButtonLink to="/files">{t("open-files")}</ButtonLink>
        </div>
      )}
      {items.length > 0 && (
        <ul className="grid gap-3 md:grid-cols-2 2xl:grid-cols-3">
          {items.map((row) => (
            <Playing key={row.id} row={row} picture={isQuiet ? pictures.find(({ fileId }) => fileId === row.file.id)?.picture : null} />
          ))}
        </ul>
      )}
      {scans.length > 0 && (
        <ul className="grid gap-1">
          {scans.map((scan) => (
            <li key={`${scan.client} ${scan.player}`} className="flex items-start gap-2 text-sm text-muted">
              <Icon of={ScanSearch} size={14} className="mt-1" />
              <span className="min-w-0 wrap-anywhere">{t("scan", { count: scan.files, client: clientOf(scan), bytes: formatBytes(scan.bytesSent) })}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
});

function clientOf({ client, player }: { client: string; player: string }): string {
  return t("client", { player: player === "" ? t("unknown-player") : player, address: client });
}

const tones: Record<Mood, Tone> = {
  ended: "neutral", paused: "neutral", starting: "neutral", gaps: "bad", stalled: "warn", slowed: "ok", tight: "ok", whole: "ok", good: "ok",
};

/** A playback. The whole card links to its page. */
function Playing({ row, picture }: { row: StreamRow; picture: string | null | undefined }) {
  const { film } = row.file;
  const { title, file } = playedName(row.file);
  const mood = moodOf(row);
  const { bytes, durationMs } = row.file;
  const part = bytes > 0 ? row.position / bytes : 0;
  const percent = 100 * part;
  const facts = [
    durationMs === null
      ? t("position-of", { percent: formatPercent(percent), bytes: formatBytes(bytes) })
      : t("position-time", { time: formatPosition(part * durationMs), length: formatPosition(durationMs) }),
    ...(mood === "ended" ? [] : [t("buffered", { time: bufferedText(row) })]),
    ...(row.bytesPerSecond === 0 || mood === "ended" ? [] : [formatRate(row.bytesPerSecond)]),
  ];
  return (
    <li className="relative flex min-w-0 gap-4 rounded-xl border border-line bg-surface p-3 shadow-card transition-colors hover:bg-hover">
      <FilmArt isBare film={film} name={title} picture={picture} className="aspect-2/3 w-20 shrink-0 self-start rounded-lg" />
      <div className="grid min-w-0 flex-1 content-start gap-1">
        <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <Link
            to={`/streams/${encodeURIComponent(row.id)}`}
            title={row.file.path}
            className="min-h-6 min-w-0 flex-1 basis-36 truncate text-base font-semibold after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:rounded-xl focus-visible:after:outline-2 focus-visible:after:outline-accent touch:-my-1.5 touch:min-h-11 touch:leading-11"
          >
            {filmName(film, title)}
          </Link>
          <Badge tone={mood === "stalled" && row.wait === "provider-down" ? "bad" : tones[mood]}>{mood === "stalled" ? t(`wait.${row.wait}`) : t(`mood.${mood}`)}</Badge>
        </div>
        <p className="truncate text-sm text-muted">{(film && filmLine(film)) || file || clientOf(row)}</p>
        {(film !== null || file !== null) && <p className="truncate text-sm text-muted">{clientOf(row)}</p>}
        <div className="mt-1.5 grid gap-1.5">
          <Progress label={t("position")} percent={percent} tone={mood === "ended" ? "neutral" : "accent"} />
          <p className="flex flex-wrap gap-x-3 text-sm text-muted tabular-nums">
            {facts.map((fact) => (
              <span key={fact} className="whitespace-nowrap">{fact}</span>
            ))}
          </p>
        </div>
      </div>
    </li>
  );
}

import { Badge, type Tone } from "@/components/ui/badge";
import { locale } from "@/lib/i18n/locale";
import { t } from "../en";
import type { FileTrack } from "../api/files";
import type { Judgement, Verdict } from "../api/judge-tracks";

const tones: Record<Verdict, Tone> = { plays: "ok", refused: "warn", unjudged: "neutral", players: "neutral" };

/** All tracks of a file, each with the browser's verdict. */
export function TrackList({ tracks }: { tracks: Judgement["tracks"] }) {
  return (
    <section>
      <h3 className="mb-1.5 text-sm font-medium text-muted">{t("tracks")}</h3>
      <ul className="grid gap-1.5">
        {tracks.map(({ track, verdict }, at) => (
          <li key={at} className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
            <span className="w-18 shrink-0 text-sm text-muted">{t(`track-${track.kind}`)}</span>
            <span className="min-w-0 flex-1 basis-40 wrap-anywhere">{describe(track)}</span>
            <Badge tone={tones[verdict]}>{verdict === "refused" && track.kind === "audio" ? t("verdict-silent") : t(`verdict-${verdict}`)}</Badge>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Describes a track in one line, as in "E-AC-3 · 5.1 · English · default". */
export function describe(track: FileTrack): string {
  const size = track.width && track.height ? `${track.width}×${track.height}` : null;
  const channels = track.channels ? channelsOf(track.channels) : "";
  // The names of some codecs include the channels, as in "AAC mono".
  const isSaid = track.codec.toLowerCase().endsWith(channels.toLowerCase());
  const parts = [track.codec, size, isSaid ? null : channels, languageOf(track.language), track.title];
  return [...parts, track.forced ? t("track-forced") : null, track.default ? t("track-default") : null].filter((part) => part !== null && part !== "").join(" · ");
}

function channelsOf(count: number): string {
  const names: Record<number, string> = { 1: t("mono"), 2: t("stereo"), 6: "5.1", 7: "6.1", 8: "7.1" };
  return names[count] ?? t("channels", { count });
}

/** Names a language; null if unknown. */
export function languageOf(tag: string | null): string | null {
  if (tag === null || tag === "und") return null;
  try {
    return new Intl.DisplayNames(locale(), { type: "language" }).of(tag) ?? tag;
  } catch {
    // Not a valid language tag, so it is shown as the file has it.
    return tag;
  }
}

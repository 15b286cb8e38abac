import { useQuery } from "@tanstack/react-query";
import { type RefObject, useState } from "react";
import { SelectField } from "@/components/ui/select-field";
import { urlOf } from "@/lib/url-base";
import { type SubtitleEntry, subtitlesQuery, useSubtitleTrack } from "../api/subtitles";
import { t } from "../en";
import { languageOf } from "./track-list";

const off = "off";

/** The choice of subtitles for a film, and what this browser cannot show of them. */
export function useSubtitleChoice(video: RefObject<HTMLVideoElement | null>, fileId: string) {
  const { data } = useQuery(subtitlesQuery(fileId));
  const [chosen, setChosen] = useState<SubtitleEntry | null>(null);
  const [brokenId, setBrokenId] = useState<string | null>(null);
  const sentence = useSubtitleTrack(video, fileId, chosen);
  const readable = data?.items.filter((entry) => entry.form === "text") ?? [];
  const others = data?.items.filter((entry) => entry.form !== "text") ?? [];
  const problem = sentence ?? (chosen !== null && chosen.id === brokenId ? t("subtitles-broken") : null);

  return {
    /** The `<track>` of a subtitle file; null for tracks inside the film, whose lines come stretch by stretch. */
    track: chosen?.place === "file" && (
      <track
        key={chosen.id}
        ref={(element) => {
          if (element) element.track.mode = "showing";
        }}
        kind="subtitles"
        src={urlOf(`api/files/${fileId}/subtitles/${chosen.id}`)}
        label={nameOf(chosen)}
        default
        onError={() => setBrokenId(chosen.id)}
      />
    ),
    choice: (readable.length > 0 || others.length > 0) && (
      <div className="grid gap-2">
        {readable.length > 0 && (
          <SelectField
            label={t("subtitles")}
            value={chosen?.id ?? off}
            options={[{ value: off, label: t("subtitles-off") }, ...readable.map((entry) => ({ value: entry.id, label: nameOf(entry) }))]}
            onChange={(id) => setChosen(readable.find((entry) => entry.id === id) ?? null)}
            className="max-w-80"
          />
        )}
        {problem !== null && (
          <p role="status" className="text-sm text-muted">
            {problem}
          </p>
        )}
        {others.length > 0 && <p className="text-sm text-muted">{t("subtitles-pictures", { names: others.map(pictureName).join(", ") })}</p>}
      </div>
    ),
  };
}

/** Names subtitles by their language, as in "French · forced"; by their title if the language is unknown. */
function nameOf(entry: SubtitleEntry): string {
  const language = languageOf(entry.language);
  const title = entry.place === "file" && language !== null ? null : entry.title;
  const parts = [language, title, entry.forced ? t("track-forced") : null, entry.sounds ? t("subtitles-sounds") : null];
  return parts.filter((part) => part !== null).join(" · ") || t("subtitles-number", { number: Number(entry.id) + 1 });
}

function pictureName(entry: SubtitleEntry): string {
  return [languageOf(entry.language), entry.forced ? t("track-forced") : null, entry.codec].filter((part) => part !== null).join(" ");
}

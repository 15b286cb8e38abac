import { SkipForward } from "lucide-react";
import { Button } from "@/components/ui/button";
import type { Schema } from "@/lib/api-client";
import { filmName, filmPart } from "@/lib/film";
import { t } from "../en";

type FollowingEpisode = Schema<"FollowingEpisode">;

interface NextEpisodeProps {
  next: FollowingEpisode;
  onPlay: (id: string) => void;
}

/** Plays the next episode. */
export function NextEpisodeButton({ next, onPlay }: NextEpisodeProps) {
  return (
    <Button icon={SkipForward} title={nameOf(next)} onClick={() => onPlay(next.id)}>
      {t("next-episode", { part: filmPart(next.film) })}
    </Button>
  );
}

/** Offers the next episode over the picture during the credits. */
export function NextEpisodeOffer({ next, onPlay }: NextEpisodeProps) {
  return (
    <div role="status" className="absolute end-3 bottom-16 flex max-w-[calc(100%-1.5rem)] items-center gap-3 rounded-lg bg-raised px-3.5 py-2.5 shadow-float sm:end-5">
      <span className="min-w-0">
        <span className="block text-sm text-muted">{t("next-up")}</span>
        <span className="block truncate font-medium">{nameOf(next)}</span>
      </span>
      <Button tone="accent" icon={SkipForward} onClick={() => onPlay(next.id)}>
        {t("play-next")}
      </Button>
    </div>
  );
}

function nameOf({ path, film }: FollowingEpisode): string {
  return [filmName(film, path.split("/").at(-1) ?? path), filmPart(film)].filter((part) => part !== "").join(" · ");
}

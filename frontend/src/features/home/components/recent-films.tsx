import { FolderOpen, Play } from "lucide-react";
import { Link } from "react-router";
import { Badge } from "@/components/ui/badge";
import { ButtonLink } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { filmLine, filmName } from "@/lib/film";
import { formatAgo, formatPercent } from "@/lib/format";
import type { HomeFilm } from "../api/home";
import { paintMark, useQuiet } from "../api/quiet";
import { t } from "../en";
import { FilmArt } from "./film-art";

const folderOf = (path: string) => `/files/${path.split("/").map(encodeURIComponent).join("/")}`;

/** What was added last, as pictures that play. On phones they are one row that scrolls. */
export function RecentFilms({ films }: { films: readonly HomeFilm[] }) {
  const isQuiet = useQuiet();
  return (
    <section aria-labelledby="recent-title" className="grid gap-3">
      <header className="flex min-h-8 items-center justify-between gap-3">
        <h2 {...paintMark} id="recent-title" className="text-lg font-semibold">
          {t("recent")}
        </h2>
        <ButtonLink size="sm" tone="quiet" to="/files?sort=newest">
          {t("all-files")}
        </ButtonLink>
      </header>
      {/* Padded, because the shadow and the focus ring reach beyond a picture. */}
      <ul className="-mx-4 grid grid-cols-none auto-cols-[9.5rem] grid-flow-col gap-3 overflow-x-auto px-4 pb-2 sm:mx-0 sm:auto-cols-auto sm:grid-flow-row sm:grid-cols-[repeat(auto-fill,minmax(9.5rem,1fr))] sm:gap-x-4 sm:gap-y-5 sm:overflow-visible sm:px-0">
        {films.map((film) => (
          <Film key={film.path} film={film} hasPicture={isQuiet} />
        ))}
      </ul>
    </section>
  );
}

function Film({ film: { film, path, filmId, addedAt, missingShare, watchedShare, picture }, hasPicture }: { film: HomeFilm; hasPicture: boolean }) {
  const name = path.split("/").at(-1) ?? path;
  const title = filmName(film, name);
  const folder = folderOf(path);
  const line = [title, filmLine(film)].filter((part) => part !== "").join(", ");
  return (
    <li className="grid min-w-0 content-start gap-2">
      <Link
        to={filmId === null ? folder : `${folder}?play=${encodeURIComponent(filmId)}`}
        className="group relative block overflow-hidden rounded-xl shadow-card outline-offset-2 transition-transform duration-150 hover:-translate-y-0.5 motion-reduce:transform-none"
      >
        {/* A text rather than a label, because a label would have to repeat the words of the picture in their order. */}
        <span className="sr-only">{t(filmId === null ? "open-film" : watchedShare === null ? "play-film" : "resume-film", { name: line })}</span>
        <FilmArt film={film} name={name} picture={hasPicture ? picture : null} className="aspect-2/3" />
        {watchedShare !== null && (
          <span aria-hidden className="absolute inset-x-0 bottom-0 h-1 bg-[#0009]">
            <span className="block h-full bg-accent-fill" style={{ inlineSize: `${100 * watchedShare}%` }} />
          </span>
        )}
        <span className="absolute inset-0 flex items-center justify-center bg-[#0006] text-[#fff] opacity-0 transition-opacity group-hover:opacity-100 group-focus-visible:opacity-100">
          <span className="flex size-13 items-center justify-center rounded-full bg-[#000a] ring-2 ring-[#fffc]">
            <Icon of={filmId === null ? FolderOpen : Play} size={24} />
          </span>
        </span>
      </Link>
      <Link to={folder} title={name} className="grid min-h-6 min-w-0 gap-1 rounded-sm text-sm text-muted hover:text-ink touch:min-h-11">
        <span className="truncate tabular-nums">{formatAgo(addedAt)}</span>
        {missingShare !== null && (
          <span className="min-w-0">
            <Badge tone="warn">{t("gaps-short", { percent: formatPercent(100 * missingShare, 1) })}</Badge>
          </span>
        )}
      </Link>
    </li>
  );
}

import { createTexts } from "./i18n/texts";

/** The parts of a release name, as the server has read them. */
export interface FilmTitle {
  title: string;
  year: number | null;
  /** A number or a range, as in "1-5"; null for a film. */
  season: string | null;
  /** A number, a range, or the date of a daily show. */
  episodes: string | null;
  quality: string | null;
}

const t = createTexts({ season: "Season {season}", episode: "S{season} E{episode}" });

/** Returns the title of a film or show, or the release name if the title is unknown. */
export function filmName(film: FilmTitle | null, release: string): string {
  return film?.title ?? release;
}

/** Returns the year, or season and episode, which tell films of one title apart. Empty if unknown. */
export function filmPart(film: FilmTitle | null): string {
  if (!film) return "";
  const { season, episodes, year } = film;
  if (season !== null && episodes !== null) return t("episode", { season: season.padStart(2, "0"), episode: episodes.padStart(2, "0") });
  if (season !== null) return t("season", { season });
  return episodes ?? (year === null ? "" : String(year));
}

/** Returns {@link filmPart} and the quality, as in "2024 · 1080p WEB-DL". */
export function filmLine(film: FilmTitle | null): string {
  return [filmPart(film), film?.quality ?? ""].filter((part) => part !== "").join(" · ");
}

/** Returns a hue from 0 to 359 that is always the same for a name. */
export function hueOf(name: string): number {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  // Spreads the hues, because neighbors look alike and names that differ by a letter would be neighbors.
  return (hash * 137) % 360;
}

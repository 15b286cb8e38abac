import { createTexts } from "./i18n/texts";

/** What the name of a release says, as the server has read it. */
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

/** The name of a film, a show or, where its name says nothing, of the release. */
export function filmName(film: FilmTitle | null, release: string): string {
  return film?.title ?? release;
}

/** Year, or season and episode: what tells a film from others of its name. Empty if nothing does. */
export function filmPart(film: FilmTitle | null): string {
  if (!film) return "";
  const { season, episodes, year } = film;
  if (season !== null && episodes !== null) return t("episode", { season: season.padStart(2, "0"), episode: episodes.padStart(2, "0") });
  if (season !== null) return t("season", { season });
  return episodes ?? (year === null ? "" : String(year));
}

/** The same with the quality, as in "2024 · 1080p WEB-DL". */
export function filmLine(film: FilmTitle | null): string {
  return [filmPart(film), film?.quality ?? ""].filter((part) => part !== "").join(" · ");
}

/** A hue from 0 to 359 that stays the same for a name. */
export function hueOf(name: string): number {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  // The neighbors of a hue look alike, and so would films whose names differ by a letter.
  return (hash * 137) % 360;
}

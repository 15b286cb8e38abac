import { type CSSProperties, useState } from "react";
import { cx } from "@/lib/cx";
import { type FilmTitle, filmName, filmPart, hueOf } from "@/lib/film";
import { urlOf } from "@/lib/url-base";

interface FilmArtProps {
  film: FilmTitle | null;
  /** Name of the release, used if it contains no title. */
  name: string;
  /** Shows only color and letter, because the title is next to it. */
  isBare?: boolean;
  /** Hash of the picture on the server, shown over the drawn one once it has loaded. */
  picture?: string | null | undefined;
  className?: string;
}

/** A drawn picture of a film. The colors follow from the title, so they are the same everywhere. Hidden from screen readers. */
export function FilmArt({ film, name, isBare = false, picture, className }: FilmArtProps) {
  const title = filmName(film, name);
  const part = filmPart(film);
  return (
    <span aria-hidden className={cx("film-art relative block overflow-hidden select-none", className)} style={{ "--hue": hueOf(title) } as CSSProperties}>
      <span className={cx("absolute font-semibold opacity-20", isBare ? "inset-0 flex items-center justify-center text-[2.75rem] opacity-50" : "-end-2 -top-7 text-[9rem] leading-none")}>
        {[...title.replace(/^(the|a|an) /i, "")][0]?.toUpperCase()}
      </span>
      {picture && <FilmPicture key={picture} picture={picture} />}
      {!isBare && (
        <span className="absolute inset-x-0 bottom-0 grid gap-0.5 bg-linear-to-t from-[#000a] to-transparent p-3 pt-10">
          <span className="line-clamp-4 text-base/5 font-semibold text-balance wrap-anywhere">{title}</span>
          {part !== "" && <span className="text-sm/4 opacity-85 tabular-nums">{part}</span>}
        </span>
      )}
      {!isBare && film?.quality && (
        <span className="absolute start-2.5 top-2.5 max-w-[80%] truncate rounded-sm bg-[#0009] px-1.5 text-xs/5 font-medium">{film.quality}</span>
      )}
    </span>
  );
}

/** Fades in when loaded, so that text appears first and nothing moves. If it fails, the drawn picture remains. */
function FilmPicture({ picture }: { picture: string }) {
  const [isLoaded, setLoaded] = useState(false);
  return (
    <img
      src={urlOf(`api/pictures/${picture}`)}
      alt=""
      decoding="async"
      onLoad={() => setLoaded(true)}
      className={cx("absolute inset-0 size-full object-cover transition-opacity duration-300", isLoaded ? "opacity-100" : "opacity-0")}
    />
  );
}

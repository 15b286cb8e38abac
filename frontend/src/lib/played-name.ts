import type { Schema } from "./api-client";

/** The shown name of a played file: its release, because many releases contain the same film.mkv. */
export interface PlayedName {
  title: string;
  /** The name of the file; null if it is that of the release. */
  file: string | null;
}

/** Names a file after its release folder, the second of `category/release/…/file`, or by itself if there is none. */
export function playedName({ name, path }: Pick<Schema<"StreamFile">, "name" | "path">): PlayedName {
  const [, release, ...inside] = path.split("/");
  if (!release || inside.length === 0) return { title: name, file: null };
  return { title: release, file: name.replace(/\.[^.]+$/, "") === release ? null : name };
}

import type { Schema } from "./api-client";

/** What a file that is played is called: by its release, for many releases have the same film.mkv. */
export interface PlayedName {
  title: string;
  /** The file, where its name is not just that of the release; null where it is. */
  file: string | null;
}

/** Names a file by the folder of its release, the second of `category/release/…/file`, or by itself where there is none. */
export function playedName({ name, path }: Pick<Schema<"StreamFile">, "name" | "path">): PlayedName {
  const [, release, ...inside] = path.split("/");
  if (!release || inside.length === 0) return { title: name, file: null };
  return { title: release, file: name.replace(/\.[^.]+$/, "") === release ? null : name };
}

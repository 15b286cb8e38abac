import { safeName } from "@/lib/save-file";

/** The address under the origin that the browser came by, whatever the server takes its own for: a proxy may hide the scheme. */
export function sameOrigin(address: string): string {
  const { pathname, search } = new URL(address);
  return new URL(pathname + search, location.origin).href;
}

/** The link that opens an address in VLC. */
export function vlcLink(address: string): string {
  return `vlc://${address}`;
}

/** The link that opens an address in Infuse. */
export function infuseLink(address: string): string {
  return `infuse://x-callback-url/play?url=${encodeURIComponent(address)}`;
}

/** A playlist of one file, which every player opens. */
export function m3uOf(name: string, address: string): string {
  return `#EXTM3U\n#EXTINF:-1,${name.replace(/[\r\n]+/g, " ")}\n${address}\n`;
}

/** The name of a file made for another one, as in `film.m3u` for `film.mkv`. */
export function nameFor(name: string, extension: "m3u" | "strm"): string {
  return `${safeName(name.replace(/\.[^.]{1,5}$/, ""))}.${extension}`;
}

import { safeName } from "@/lib/save-file";

/** Returns an address under the origin that the browser uses, because the server may not know the scheme behind a proxy. */
export function sameOrigin(address: string): string {
  const { pathname, search } = new URL(address);
  return new URL(pathname + search, location.origin).href;
}

/** Returns a link that opens an address in VLC. */
export function vlcLink(address: string): string {
  return `vlc://${address}`;
}

/** Whether this device opens the links of players. VLC for desktops registers none, and opens playlists instead. */
export function hasPlayerLinks(): boolean {
  return window.matchMedia("(pointer: coarse)").matches;
}

/** Returns the command that plays an address in mpv. Inside double quotes, no character of an address is special to a shell. */
export function mpvCommand(address: string): string {
  return `mpv "${address}"`;
}

/** Returns a link that opens an address in Infuse. */
export function infuseLink(address: string): string {
  return `infuse://x-callback-url/play?url=${encodeURIComponent(address)}`;
}

/** Returns a playlist of one file, which every player can open. */
export function m3uOf(name: string, address: string): string {
  return `#EXTM3U\n#EXTINF:-1,${name.replace(/[\r\n]+/g, " ")}\n${address}\n`;
}

/** Returns the name of a file derived from another one, as in `film.m3u` for `film.mkv`. */
export function nameFor(name: string, extension: "m3u" | "strm"): string {
  return `${safeName(name.replace(/\.[^.]{1,5}$/, ""))}.${extension}`;
}

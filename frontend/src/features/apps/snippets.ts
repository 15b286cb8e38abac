/** The values that a program needs to reach the WebDAV tree. */
export interface Access {
  /** As in `http://nas:3000`. */
  origin: string;
  /** As in `/sluice`; empty for none. */
  urlBase: string;
  /** Empty if no login is needed. */
  user: string;
  password: string;
  mountDir: string;
}

/** Placeholder for a password that can no longer be shown. */
export const passwordMark = "PASSWORD";

/** Returns the address of the WebDAV tree. */
export function treeUrl(access: Access): string {
  return `${access.origin}${access.urlBase}/`;
}

/** Quotes a word of a shell command if necessary. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Returns the rclone remote for a shell document, in which rclone obscures the password. */
export function remoteLines(access: Access): string[] {
  const inDocument = (text: string) => text.replace(/[\\$`]/g, "\\$&");
  const login = access.user === "" ? [] : [`user = ${inDocument(access.user)}`, `pass = $(rclone obscure ${quoted(access.password)})`];
  return ["[sluice]", "type = webdav", `url = ${inDocument(treeUrl(access))}`, "vendor = other", ...login];
}

/** Returns commands that write the rclone remote into the user's configuration. */
export function rcloneConfig(access: Access): string {
  return ["mkdir -p ~/.config/rclone && cat >> ~/.config/rclone/rclone.conf <<EOF", ...remoteLines(access), "EOF"].join("\n");
}

export function rcloneMount(access: Access): string {
  return `rclone mount sluice: ${quoted(access.mountDir)} --links --allow-other --dir-cache-time 10s --vfs-cache-mode off`;
}

/** Returns a compose volume through which a container sees the mount, even if it is mounted later. */
export function volumeLine(access: Access): string {
  return `- ${access.mountDir}:${access.mountDir}:rslave`;
}

/** Returns the address of the library's playlist with the login, because a folder has no GET that a player could open. */
export function playlistUrl(access: Access): string {
  const login = access.user === "" ? "" : `${encodeURIComponent(access.user)}:${encodeURIComponent(access.password)}@`;
  return `${treeUrl(access).replace("://", () => `://${login}`)}view/playlists.m3u`;
}

/** Returns a command that lists the tree with PROPFIND, because a GET of a folder is empty. */
export function curlCommand(access: Access): string {
  const login = access.user === "" ? "" : ` -u ${quoted(`${access.user}:${access.password}`)}`;
  return `curl -X PROPFIND -H "Depth: 1"${login} ${quoted(`${treeUrl(access)}content/`)}`;
}

/** Adds the scheme of another address if it has none. */
export function withScheme(address: string, like: string): string {
  return (address.includes("://") ? address : `${new URL(like).protocol}//${address}`).replace(/\/$/, "");
}

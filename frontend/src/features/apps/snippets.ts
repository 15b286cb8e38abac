/** What a program has to know to reach the tree. */
export interface Access {
  /** As in `http://nas:3000`. */
  origin: string;
  /** As in `/sluice`; empty for none. */
  urlBase: string;
  /** Empty where no login is needed. */
  user: string;
  password: string;
  mountDir: string;
}

/** Stands for a password that is not known any more. */
export const passwordMark = "PASSWORD";

/** The address of the tree. */
export function treeUrl(access: Access): string {
  return `${access.origin}${access.urlBase}/`;
}

/** A word of a shell command, quoted where it needs it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The remote of rclone within a shell document, which lets rclone obscure the password. */
export function remoteLines(access: Access): string[] {
  const inDocument = (text: string) => text.replace(/[\\$`]/g, "\\$&");
  const login = access.user === "" ? [] : [`user = ${inDocument(access.user)}`, `pass = $(rclone obscure ${quoted(access.password)})`];
  return ["[sluice]", "type = webdav", `url = ${inDocument(treeUrl(access))}`, "vendor = other", ...login];
}

/** Commands that write the remote of rclone into the configuration of the user. */
export function rcloneConfig(access: Access): string {
  return ["mkdir -p ~/.config/rclone && cat >> ~/.config/rclone/rclone.conf <<EOF", ...remoteLines(access), "EOF"].join("\n");
}

export function rcloneMount(access: Access): string {
  return `rclone mount sluice: ${quoted(access.mountDir)} --links --allow-other --dir-cache-time 10s --vfs-cache-mode off`;
}

/** A volume of a compose file through which a container sees the mount, also one that comes later. */
export function volumeLine(access: Access): string {
  return `- ${access.mountDir}:${access.mountDir}:rslave`;
}

/** Lists the tree; a GET of a folder is empty. */
export function curlCommand(access: Access): string {
  const login = access.user === "" ? "" : ` -u ${quoted(`${access.user}:${access.password}`)}`;
  return `curl -X PROPFIND -H "Depth: 1"${login} ${quoted(`${treeUrl(access)}content/`)}`;
}

/** An address with its scheme: that of another one where it has none. */
export function withScheme(address: string, like: string): string {
  return (address.includes("://") ? address : `${new URL(like).protocol}//${address}`).replace(/\/$/, "");
}

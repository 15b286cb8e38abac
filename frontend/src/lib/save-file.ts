/** Downloads a text as a file. */
export function saveText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  saveUrl(url, name);
  // The download begins after this turn, so the address must stay valid for a while.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Downloads an address of this server. */
export function saveUrl(url: string, name = ""): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

/** Replaces the characters that file systems refuse. */
export function safeName(name: string): string {
  return name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, "_").replace(/^\.+/, "_");
}

/** The address that all others are relative to, from `<base href>`; ends with a slash. */
export function baseUrl(): string {
  return new URL(".", document.baseURI).href;
}

/** Its path without the slash at the end; empty at the root. */
export function basePath(): string {
  return new URL(baseUrl()).pathname.replace(/\/$/, "");
}

/** The address of a path of this server, as in `api/events`. */
export function urlOf(path: string): string {
  return new URL(path.replace(/^\//, ""), baseUrl()).href;
}

/** Returns the base of all relative addresses, from `<base href>`; ends with a slash. */
export function baseUrl(): string {
  return new URL(".", document.baseURI).href;
}

/** Returns the path of the base without the trailing slash; empty at the root. */
export function basePath(): string {
  return new URL(baseUrl()).pathname.replace(/\/$/, "");
}

/** Returns the address of a path of this server, as in `api/events`. */
export function urlOf(path: string): string {
  return new URL(path.replace(/^\//, ""), baseUrl()).href;
}

import { urlOf } from "@/lib/url-base";

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/** The page of a folder. */
export function folderPath(path: string): string {
  return path === "" ? "/files" : `/files/${encoded(path)}`;
}

/** The folder in which an entry lies; empty for the categories. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The WebDAV address of a folder, by the way the browser came. */
export function webDavOf(path: string): string {
  return urlOf(`content/${encoded(path)}`);
}

import { urlOf } from "@/lib/url-base";

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/** Returns the page of a folder. */
export function folderPath(path: string): string {
  return path === "" ? "/files" : `/files/${encoded(path)}`;
}

/** Returns the folder of an entry; empty for categories. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the WebDAV address of a folder, under the origin that the browser uses. */
export function webDavOf(path: string): string {
  return urlOf(`content/${encoded(path)}`);
}

/** The page of removed files. A parameter, because every path below `/files` is a folder. */
export const removedPath = "/files?view=removed";

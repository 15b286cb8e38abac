import type { QueryClient } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";
import { copyText } from "@/lib/clipboard";
import { attempt } from "@/lib/attempt";
import { formatDateTime } from "@/lib/format";
import { saveText, saveUrl } from "@/lib/save-file";
import { toast } from "@/lib/toast";
import { urlOf } from "@/lib/url-base";
import { t } from "../en";
import { type FileDetail, fileQuery } from "./files";
import { hasPlayerLinks, infuseLink, m3uOf, mpvCommand, nameFor, sameOrigin, vlcLink } from "./players";

const mostHours = 720;

/** Acts on a file after loading its addresses if necessary. */
export async function withFile(client: QueryClient, id: string, act: (file: FileDetail) => unknown): Promise<void> {
  const file = await attempt(client.ensureQueryData(fileQuery(id)), t("links-failed"));
  if (file) act(file);
}

/** Opens the file in VLC: by its link if VLC takes links here, else by a playlist. The browser does not report whether VLC is installed. */
export function openInVlc(file: FileDetail): void {
  if (hasPlayerLinks()) return handOver(vlcLink(file.links.signed), t("vlc-sent"), file);
  toast({ id: "player", title: t("vlc-file"), body: t("vlc-file-help") });
  void saveM3u(file);
}

/** Copies the command that plays the file in mpv. */
export function copyMpv(file: FileDetail): void {
  void copy(mpvCommand(file.links.signed), t("copied-mpv"), t("copied-mpv-help"));
}

export function openInInfuse(file: FileDetail): void {
  handOver(infuseLink(file.links.signed), t("infuse-sent"), file);
}

function handOver(link: string, title: string, file: FileDetail): void {
  location.assign(link);
  toast({ id: "player", title, body: t("player-help"), action: { label: t("m3u"), run: () => void saveM3u(file) } });
}

/** Downloads a playlist of the file. */
export async function saveM3u(file: FileDetail): Promise<void> {
  const link = await lastingLink(file);
  if (link) saveText(nameFor(file.item.name, "m3u"), "audio/x-mpegurl", m3uOf(file.item.name, link));
}

/** Downloads a file that contains only the address, as media libraries read it. */
export async function saveStrm(file: FileDetail): Promise<void> {
  const link = await lastingLink(file);
  if (link) saveText(nameFor(file.item.name, "strm"), "text/plain", link);
}

// A saved file is opened later than a copied link, so its link is valid as long as possible.
async function lastingLink({ item }: FileDetail): Promise<string | undefined> {
  const path = { id: item.id ?? "" };
  const file = await attempt(dataOf(api.GET("/api/files/{id}", { params: { path, query: { hours: mostHours } } })), t("links-failed"));
  return file?.links.signed;
}

/** Downloads the file itself. */
export function saveFile({ item, links }: FileDetail): void {
  saveUrl(sameOrigin(links.signed), item.name);
}

/** Downloads the NZB of the file. */
export function saveNzb(id: string): void {
  saveUrl(urlOf(`api/files/${id}/nzb`));
}

export const copyWebDav = ({ links }: FileDetail) => copy(links.webDav, t("copied-webdav"));

export const copySigned = ({ links }: FileDetail) =>
  copy(links.signed, t("copied-signed"), t("copied-signed-until", { time: formatDateTime(links.signedUntil) }));

export const copyArrPath = ({ links }: FileDetail) =>
  links.arrPath === null ? void toast({ tone: "bad", title: t("no-arr-path") }) : copy(links.arrPath, t("copied-arr"), links.arrPath);

/** Copies a text and reports the result in a toast. */
export async function copy(text: string, title: string, body?: string): Promise<void> {
  if (await copyText(text)) toast({ id: "copied", tone: "ok", title, ...(body ? { body } : {}) });
  else toast({ id: "copied", tone: "bad", title: t("copy-refused"), body: t("copy-refused-help") });
}

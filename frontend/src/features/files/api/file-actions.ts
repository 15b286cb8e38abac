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
import { infuseLink, m3uOf, nameFor, sameOrigin, vlcLink } from "./players";

const mostHours = 720;

/** Does something with a file whose addresses may have to be asked for first. */
export async function withFile(client: QueryClient, id: string, act: (file: FileDetail) => unknown): Promise<void> {
  const file = await attempt(client.ensureQueryData(fileQuery(id)), t("links-failed"));
  if (file) act(file);
}

/** Opens the file in VLC; a browser does not tell whether there is one. */
export function openInVlc(file: FileDetail): void {
  handOver(vlcLink(file.links.signed), t("vlc-sent"), file);
}

/** Opens the file in Infuse. */
export function openInInfuse(file: FileDetail): void {
  handOver(infuseLink(file.links.signed), t("infuse-sent"), file);
}

function handOver(link: string, title: string, file: FileDetail): void {
  location.assign(link);
  toast({ id: "player", title, body: t("player-help"), action: { label: t("m3u"), run: () => void saveM3u(file) } });
}

/** A playlist of the file, made here. */
export async function saveM3u(file: FileDetail): Promise<void> {
  const link = await lastingLink(file);
  if (link) saveText(nameFor(file.item.name, "m3u"), "audio/x-mpegurl", m3uOf(file.item.name, link));
}

/** A file with the address alone, as libraries read it, made here. */
export async function saveStrm(file: FileDetail): Promise<void> {
  const link = await lastingLink(file);
  if (link) saveText(nameFor(file.item.name, "strm"), "text/plain", link);
}

// What is kept as a file is opened later than what is copied: its link works for as long as a link may.
async function lastingLink({ item }: FileDetail): Promise<string | undefined> {
  const path = { id: item.id ?? "" };
  const file = await attempt(dataOf(api.GET("/api/files/{id}", { params: { path, query: { hours: mostHours } } })), t("links-failed"));
  return file?.links.signed;
}

/** The file itself. */
export function saveFile({ item, links }: FileDetail): void {
  saveUrl(sameOrigin(links.signed), item.name);
}

/** The NZB that the file came from. */
export function saveNzb(id: string): void {
  saveUrl(urlOf(`api/files/${id}/nzb`));
}

export const copyWebDav = ({ links }: FileDetail) => copy(links.webDav, t("copied-webdav"));

export const copySigned = ({ links }: FileDetail) =>
  copy(links.signed, t("copied-signed"), t("copied-signed-until", { time: formatDateTime(links.signedUntil) }));

export const copyArrPath = ({ links }: FileDetail) =>
  links.arrPath === null ? void toast({ tone: "bad", title: t("no-arr-path") }) : copy(links.arrPath, t("copied-arr"), links.arrPath);

/** Copies and says so. */
export async function copy(text: string, title: string, body?: string): Promise<void> {
  if (await copyText(text)) toast({ id: "copied", tone: "ok", title, ...(body ? { body } : {}) });
  else toast({ id: "copied", tone: "bad", title: t("copy-refused"), body: t("copy-refused-help") });
}

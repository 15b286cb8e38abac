import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";
import { attempt } from "@/lib/attempt";
import { formatDateTime } from "@/lib/format";
import { queryClient } from "@/lib/query-client";
import { saveUrl } from "@/lib/save-file";
import { toast } from "@/lib/toast";
import { t } from "../en";
import { copy } from "./file-actions";
import { hasPlayerLinks, mpvCommand, nameFor, sameOrigin, vlcLink } from "./players";

const playlistQuery = (path: string) =>
  queryOptions({
    queryKey: ["playlist", path],
    queryFn: ({ signal }) => dataOf(api.GET("/api/playlists", { params: { query: { path } }, signal })),
  });

/** Asks for the link of a folder's playlist as a menu opens, because browsers copy only right after a press. */
export function preparePlaylist(path: string): void {
  void queryClient.prefetchQuery(playlistQuery(path));
}

async function withLink(path: string, act: (link: string, until: string) => unknown): Promise<void> {
  const link = await attempt(queryClient.ensureQueryData(playlistQuery(path)), t("playlist-failed"));
  if (link) await act(link.signed, link.signedUntil);
}

/** Saves the playlist of a folder, which every player opens. */
export const savePlaylist = (path: string) =>
  withLink(path, (link) => saveUrl(sameOrigin(link), nameFor(path.split("/").at(-1) || "Sluice", "m3u")));

/** Plays a folder in VLC: by its link where VLC takes links, else by a playlist. */
export const playFolderInVlc = (path: string) => {
  if (hasPlayerLinks()) return withLink(path, (link) => location.assign(vlcLink(link)));
  toast({ id: "player", title: t("vlc-file"), body: t("vlc-file-help") });
  return savePlaylist(path);
};

export const copyPlaylist = (path: string) =>
  withLink(path, (link, until) => copy(link, t("copied-playlist"), t("copied-signed-until", { time: formatDateTime(until) })));

export const copyMpvPlaylist = (path: string) => withLink(path, (link) => copy(mpvCommand(link), t("copied-mpv"), t("copied-mpv-help")));

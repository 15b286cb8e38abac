import { Copy, Download, ExternalLink, ListVideo, SquareTerminal } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Menu } from "@/components/ui/menu";
import { t } from "../en";
import { copyMpvPlaylist, copyPlaylist, playFolderInVlc, preparePlaylist, savePlaylist } from "../api/playlists";

/** What a folder has to play, as a playlist for players. */
export function PlaylistMenu({ path }: { path: string }) {
  const act = (run: (path: string) => Promise<void>) => () => void run(path);
  return (
    <Menu
      label={t("playlist")}
      items={() => {
        preparePlaylist(path);
        return [
          { label: t("vlc"), icon: ExternalLink, onSelect: act(playFolderInVlc) },
          { label: t("mpv"), icon: SquareTerminal, onSelect: act(copyMpvPlaylist) },
          { label: t("copy-playlist"), icon: Copy, onSelect: act(copyPlaylist) },
          { label: t("m3u"), icon: Download, onSelect: act(savePlaylist) },
        ];
      }}
      trigger={(wiring) => (
        <Button size="sm" tone="quiet" icon={ListVideo} {...wiring}>
          {t("playlist")}
        </Button>
      )}
    />
  );
}

import { ExternalLink, ListVideo, SquareTerminal } from "lucide-react";
import { Button } from "@/components/ui/button";
import { t } from "../en";
import type { FileDetail } from "../api/files";
import { copyMpv, openInInfuse, openInVlc, saveM3u } from "../api/file-actions";

/** Buttons that open a file in players on this device. */
export function PlayerButtons({ file, isFirst = false }: { file: FileDetail; isFirst?: boolean }) {
  return (
    <>
      <Button icon={ExternalLink} tone={isFirst ? "accent" : "plain"} onClick={() => openInVlc(file)}>
        {t("vlc")}
      </Button>
      <Button icon={ExternalLink} onClick={() => openInInfuse(file)}>
        {t("infuse")}
      </Button>
      <Button icon={SquareTerminal} onClick={() => copyMpv(file)}>
        {t("mpv")}
      </Button>
      <Button icon={ListVideo} onClick={() => void saveM3u(file)}>
        {t("m3u")}
      </Button>
    </>
  );
}

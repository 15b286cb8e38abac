import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-block";
import { Dialog } from "@/components/ui/dialog";
import { LoadFailure } from "@/components/ui/load-failure";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { filmName, filmPart } from "@/lib/film";
import { t } from "../en";
import { type FileDetail, type FileTracks, fileQuery, tracksQuery } from "../api/files";
import { type Judgement, judgeTracks } from "../api/judge-tracks";
import { sameOrigin } from "../api/players";
import { GapsNotice } from "./gaps-notice";
import { NextEpisodeButton, NextEpisodeOffer } from "./next-episode";
import { PlayerButtons } from "./player-buttons";
import { Player, pictureClass } from "./player";
import { TrackList } from "./track-list";

/** A film in the browser. What it holds is judged before anything plays, and what the browser cannot do is said at once. */
export function PreviewDialog({ id, onClose, onPlay }: { id: string; onClose: () => void; onPlay: (id: string) => void }) {
  const [pressedAt] = useState(() => performance.now());
  const file = useQuery(fileQuery(id));
  const tracks = useQuery(tracksQuery(id));
  const failed = file.error ?? tracks.error;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      size="full"
      title={file.data ? titleOf(file.data) : t("preview")}
      {...(file.data && file.data.release !== file.data.item.name ? { description: file.data.release } : {})}
    >
      {failed ? (
        <LoadFailure
          problem={ApiProblem.from(failed)}
          onRetry={() => {
            void file.refetch();
            void tracks.refetch();
          }}
        />
      ) : file.data && tracks.data ? (
        <Preview key={id} file={file.data} tracks={tracks.data} pressedAt={pressedAt} onPlay={onPlay} onAskAgain={() => void tracks.refetch()} />
      ) : (
        <div role="status">
          <Skeleton className={pictureClass} />
          <p className="mt-3 text-muted">{t("reading-tracks")}</p>
        </div>
      )}
    </Dialog>
  );
}

interface PreviewProps {
  file: FileDetail;
  tracks: FileTracks;
  pressedAt: number;
  onPlay: (id: string) => void;
  onAskAgain: () => void;
}

function titleOf({ item }: FileDetail): string {
  return item.film === null ? item.name : [filmName(item.film, item.name), filmPart(item.film)].filter((part) => part !== "").join(" · ");
}

function Preview({ file, tracks, pressedAt, onPlay, onAskAgain }: PreviewProps) {
  const { item, links, next } = file;
  const [isForced, setForced] = useState(false);
  const judgement = judgeTracks(tracks, (type) => document.createElement("video").canPlayType(type));
  const isPlayed = isForced || judgement.outcome === "plays" || judgement.outcome === "unknown";
  // If the tracks are unknown, the kind of file tells whether there is a picture.
  const isKnown = tracks.state === "known" && tracks.items.length > 0;
  const hasPicture = isKnown ? judgement.hasPicture : item.media !== "audio";
  const trackList = judgement.tracks.length > 0 && <TrackList tracks={judgement.tracks} />;
  return (
    <div className="grid gap-4 wrap-anywhere">
      <GapsNotice file={item} />
      <Verdict judgement={judgement} sentence={tracks.sentence} isForced={isForced} onForce={() => setForced(true)} onAskAgain={onAskAgain} />
      {isPlayed && (
        <Player
          id={item.id ?? ""}
          name={item.name}
          src={sameOrigin(links.signed)}
          hasPicture={hasPicture}
          hasSound={isKnown ? judgement.hasSound && judgement.outcome !== "silent" : false}
          pressedAt={pressedAt}
          serverSentence={tracks.state === "unreadable" ? tracks.sentence : null}
          onGiveUp={onAskAgain}
          stillOf={file.wantsStill && hasPicture ? item.id : null}
          positionMs={file.positionMs}
          nearEnd={next && <NextEpisodeOffer next={next} onPlay={onPlay} />}
          details={trackList}
        />
      )}
      <div className="flex flex-wrap gap-2">
        {next && <NextEpisodeButton next={next} onPlay={onPlay} />}
        <PlayerButtons file={file} isFirst={!isPlayed} />
        <CopyButton label={t("copy-signed")} value={links.signed} />
      </div>
      {!isPlayed && trackList}
    </div>
  );
}

interface VerdictProps {
  judgement: Judgement;
  sentence: string | null;
  isForced: boolean;
  onForce: () => void;
  onAskAgain: () => void;
}

/** Reports how the file will play, unless all is well. */
function Verdict({ judgement, sentence, isForced, onForce, onAskAgain }: VerdictProps) {
  const codec = judgement.about?.codec ?? "";
  const force = (label: string) => !isForced && <Button onClick={onForce}>{label}</Button>;
  switch (judgement.outcome) {
    case "plays":
      return null;
    case "unknown":
      return <Notice>{t("tracks-unknown")}</Notice>;
    case "unreadable":
      return (
        <Notice
          tone="bad"
          isAlert
          actions={
            <>
              {force(t("play-anyway"))}
              <Button onClick={onAskAgain}>{t("try-again")}</Button>
            </>
          }
        >
          {sentence}
        </Notice>
      );
    case "no-picture":
      return (
        <Notice tone="warn" isAlert actions={force(t("play-anyway"))}>
          <p className="font-semibold">{t("not-here", { codec })}</p>
          <p>{t("not-here-help")}</p>
        </Notice>
      );
    case "silent":
      return (
        <Notice tone="warn" isAlert actions={force(t("play-silent"))}>
          <p className="font-semibold">{t("silent-here", { codec })}</p>
          <p>{t("silent-here-help")}</p>
        </Notice>
      );
  }
}

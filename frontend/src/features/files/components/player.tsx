import { RotateCcw } from "lucide-react";
import { type ReactNode, type SyntheticEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { Notice } from "@/components/ui/notice";
import { formatPosition } from "@/lib/format";
import { type Playback, checkPlayback } from "../api/judge-tracks";
import { useStill } from "../api/still";
import { mostRetries, useRetries } from "../api/use-retries";
import { useSavedPosition } from "../api/use-saved-position";
import { t } from "../en";
import { PlayerFailure } from "./player-failure";
import { PlayerFigures, type Range } from "./player-figures";
import { useSubtitleChoice } from "./subtitle-choice";

interface PlayerProps {
  /** Of the file, for its position and its subtitles. */
  id: string;
  /** What it plays, for screen readers. */
  name: string;
  src: string;
  hasPicture: boolean;
  hasSound: boolean;
  /** Time of the click that opened it, by the clock of the page. */
  pressedAt: number;
  /** The server's sentence about the file, shown if it does not play; null if there is none. */
  serverSentence: string | null;
  /** Called after the last retry has failed. */
  onGiveUp: () => void;
  /** Where to resume, in ms; null for the beginning. */
  positionMs: number | null;
  /** Shown over the picture near the end; null for nothing. */
  nearEnd: ReactNode;
  /** The film that has no picture yet; null if none is wanted. */
  stillOf: string | null;
  /** Shown below the figures, behind "Details". */
  details: ReactNode;
}

const checkMs = 2_000;
/** The ending starts this many seconds before the end, but never before the last tenth. */
const endSeconds = 60;

/** The film in the browser. It never fails without a word. */
export function Player({ id, name, src, hasPicture, hasSound, pressedAt, serverSentence, onGiveUp, positionMs, nearEnd, stillOf, details }: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [firstFrameMs, setFirstFrameMs] = useState<number | null>(null);
  const [seekMs, setSeekMs] = useState<number | null>(null);
  const [ranges, setRanges] = useState<readonly Range[]>([]);
  const [length, setLength] = useState(0);
  const [isStalled, setStalled] = useState(false);
  const [playback, setPlayback] = useState<Playback | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [isNearEnd, setNearEnd] = useState(false);
  // What is saved meanwhile moves the position of the file, but not the place where this playback began.
  const [startMs] = useState(positionMs ?? 0);
  const [isResumed, setResumed] = useState(false);
  const seekAt = useRef(0);
  useStill(video, stillOf);
  const subtitles = useSubtitleChoice(video, id);
  const hasBegun = useRef(false);
  const { retries, failure, keepPlace, fail, tryAgain } = useRetries(reload, onGiveUp);
  useSavedPosition(id, video, startMs);

  function reload(seconds: number) {
    const element = video.current;
    if (!element) return;
    element.load();
    element.currentTime = seconds;
    // Browsers refuse to play before the first click on the page. The controls of the video still work.
    element.play().catch(() => undefined);
  }

  const check = useEffectEvent(() => {
    if (video.current) setPlayback(checkPlayback(video.current, hasPicture, hasSound));
  });
  useEffect(() => {
    if (!isPlaying || playback !== null) return;
    const timer = setTimeout(() => check(), checkMs);
    return () => clearTimeout(timer);
  }, [isPlaying, playback]);

  function resume({ currentTarget }: SyntheticEvent<HTMLVideoElement>) {
    // A busy browser plays the first frames before it tells of them, so the position says nothing about who has set it.
    if (startMs === 0 || hasBegun.current) return;
    hasBegun.current = true;
    currentTarget.currentTime = startMs / 1_000;
    setResumed(true);
  }

  function startOver() {
    if (video.current) video.current.currentTime = 0;
    setResumed(false);
  }

  function readRanges({ currentTarget: { buffered, duration } }: SyntheticEvent<HTMLVideoElement>) {
    const next = Array.from({ length: buffered.length }, (_, at): Range => [buffered.start(at), buffered.end(at)]);
    setRanges((before) => (String(before) === String(next) ? before : next));
    setLength(Number.isFinite(duration) ? duration : 0);
  }

  return (
    <div className="grid gap-3">
      {failure && <PlayerFailure failure={failure} serverSentence={serverSentence} onTryAgain={tryAgain} />}
      {!failure && retries > 0 && !isPlaying && playback === null && <Notice tone="warn">{t("retrying", { attempt: retries, most: mostRetries })}</Notice>}
      {playback === "no-picture" && <Notice tone="bad" isAlert>{t("no-picture")}</Notice>}
      {playback === "no-sound" && <Notice tone="bad" isAlert>{t("no-sound")}</Notice>}
      <div className="relative">
        <video
          ref={video}
          src={src}
          aria-label={name}
          controls
          autoPlay
          playsInline
          preload="auto"
          hidden={failure !== null}
          className={hasPicture ? pictureClass : "h-14 w-full rounded-lg bg-sunken"}
          onLoadedMetadata={resume}
          onLoadedData={() => setFirstFrameMs((before) => before ?? performance.now() - pressedAt)}
          onPlaying={() => {
            setPlaying(true);
            setStalled(false);
          }}
          onPause={() => setPlaying(false)}
          onWaiting={() => setStalled(true)}
          onTimeUpdate={(event) => {
            const { currentTime, duration } = event.currentTarget;
            keepPlace(currentTime);
            setNearEnd(duration - currentTime <= Math.min(endSeconds, duration / 10));
            readRanges(event);
          }}
          onProgress={readRanges}
          onSeeking={() => (seekAt.current = performance.now())}
          onSeeked={() => setSeekMs(performance.now() - seekAt.current)}
          onError={({ currentTarget: { error } }) => {
            setPlaying(false);
            setStalled(false);
            fail(error);
          }}
        >
          {subtitles.track}
        </video>
        {isNearEnd && !failure && nearEnd}
      </div>
      {!failure && subtitles.choice}
      {isResumed && !failure && (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
          {t("resumed", { time: formatPosition(startMs) })}
          <Button size="sm" icon={RotateCcw} onClick={startOver}>
            {t("start-over")}
          </Button>
        </p>
      )}
      <p role="status" className="min-h-5 text-sm text-muted empty:hidden">
        {isStalled && !failure ? t("stalled") : ""}
      </p>
      <Disclosure title={t("player-details")}>
        <div className="grid gap-4 pt-3">
          {!failure && <PlayerFigures firstFrameMs={hasPicture ? firstFrameMs : null} seekMs={seekMs} ranges={ranges} length={length} />}
          {playback === "well" && <p className="text-sm text-muted">{t(hasPicture ? "all-well" : "all-well-sound")}</p>}
          {details}
        </div>
      </Disclosure>
    </div>
  );
}

/** As wide as the dialog; on phones up to both edges of the screen. */
export const pictureClass = "-mx-5 aspect-video max-h-[70dvh] w-[calc(100%+2.5rem)] max-w-none bg-[#000] sm:mx-0 sm:w-full sm:rounded-lg";

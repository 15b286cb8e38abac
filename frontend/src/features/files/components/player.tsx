import { type SyntheticEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { Link } from "react-router";
import { Button } from "@/components/ui/button";
import { KeyValues } from "@/components/ui/key-values";
import { Notice } from "@/components/ui/notice";
import { formatDuration } from "@/lib/format";
import { t } from "../en";
import { type Playback, checkPlayback } from "../api/judge-tracks";

interface PlayerProps {
  /** What it plays, for screen readers. */
  name: string;
  src: string;
  hasPicture: boolean;
  hasSound: boolean;
  /** When the press came that led here, by the page's clock. */
  pressedAt: number;
  /** A sentence of the server about the file, for when it does not play; null for none. */
  serverSentence: string | null;
  /** Called as the last retry has failed. */
  onGiveUp: () => void;
}

type Range = readonly [start: number, end: number];

const mostRetries = 3;
const retryMs = [1_000, 2_000, 4_000];
const checkMs = 2_000;

/** The film in the browser, with what can be measured of it. It never fails without a word. */
export function Player({ name, src, hasPicture, hasSound, pressedAt, serverSentence, onGiveUp }: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [firstFrameMs, setFirstFrameMs] = useState<number | null>(null);
  const [seekMs, setSeekMs] = useState<number | null>(null);
  const [ranges, setRanges] = useState<readonly Range[]>([]);
  const [length, setLength] = useState(0);
  const [isStalled, setStalled] = useState(false);
  const [retries, setRetries] = useState(0);
  const [failure, setFailure] = useState<{ code: number; at: number } | null>(null);
  const [playback, setPlayback] = useState<Playback | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const seekAt = useRef(0);
  const position = useRef(0);

  const check = useEffectEvent(() => {
    if (video.current) setPlayback(checkPlayback(video.current, hasPicture, hasSound));
  });
  useEffect(() => {
    if (!isPlaying || playback !== null) return;
    const timer = setTimeout(() => check(), checkMs);
    return () => clearTimeout(timer);
  }, [isPlaying, playback]);

  function reload() {
    const element = video.current;
    if (!element) return;
    element.load();
    element.currentTime = position.current;
    // The browser refuses to play before a first press on the page: its own controls are there.
    element.play().catch(() => undefined);
  }

  const retry = useEffectEvent(reload);
  useEffect(() => {
    if (retries === 0 || failure) return;
    const timer = setTimeout(() => retry(), retryMs[retries - 1] ?? checkMs);
    return () => clearTimeout(timer);
  }, [retries, failure]);

  function fail({ currentTarget }: SyntheticEvent<HTMLVideoElement>) {
    setPlaying(false);
    setStalled(false);
    if (retries < mostRetries) {
      setRetries(retries + 1);
      return;
    }
    setFailure({ code: currentTarget.error?.code ?? 0, at: position.current });
    onGiveUp();
  }

  function readRanges({ currentTarget: { buffered, duration } }: SyntheticEvent<HTMLVideoElement>) {
    const next = Array.from({ length: buffered.length }, (_, at): Range => [buffered.start(at), buffered.end(at)]);
    setRanges((before) => (String(before) === String(next) ? before : next));
    setLength(Number.isFinite(duration) ? duration : 0);
  }

  return (
    <div className="grid gap-3">
      {failure && (
        <Notice
          tone="bad"
          isAlert
          actions={
            <>
              <Link to="/logs" className="inline-flex min-h-6 items-center font-medium text-accent underline touch:min-h-11">
                {t("to-logs")}
              </Link>
              <Button
                onClick={() => {
                  setFailure(null);
                  setRetries(0);
                  reload();
                }}
              >
                {t("try-again")}
              </Button>
            </>
          }
        >
          {failureSentence(failure)} {serverSentence}
        </Notice>
      )}
      {!failure && retries > 0 && !isPlaying && playback === null && <Notice tone="warn">{t("retrying", { attempt: retries, most: mostRetries })}</Notice>}
      {playback === "no-picture" && <Notice tone="bad" isAlert>{t("no-picture")}</Notice>}
      {playback === "no-sound" && <Notice tone="bad" isAlert>{t("no-sound")}</Notice>}
      <video
        ref={video}
        src={src}
        aria-label={name}
        controls
        autoPlay
        playsInline
        preload="auto"
        hidden={failure !== null}
        className={hasPicture ? "aspect-video max-h-[50dvh] w-full rounded-lg bg-[#000]" : "h-14 w-full rounded-lg bg-sunken"}
        onLoadedData={() => setFirstFrameMs((before) => before ?? performance.now() - pressedAt)}
        onPlaying={() => {
          setPlaying(true);
          setStalled(false);
        }}
        onPause={() => setPlaying(false)}
        onWaiting={() => setStalled(true)}
        onTimeUpdate={(event) => {
          position.current = event.currentTarget.currentTime;
          readRanges(event);
        }}
        onProgress={readRanges}
        onSeeking={() => (seekAt.current = performance.now())}
        onSeeked={() => setSeekMs(performance.now() - seekAt.current)}
        onError={fail}
      />
      {!failure && (
        <>
          <BufferMap ranges={ranges} length={length} />
          <KeyValues
            items={[
              { label: t("first-frame"), value: firstFrameMs === null || !hasPicture ? null : t("first-frame-value", { time: formatDuration(firstFrameMs) }) },
              { label: t("last-seek"), value: seekMs === null ? null : t("seek-value", { time: formatDuration(seekMs) }) },
              { label: t("buffered"), value: ranges.length === 0 ? t("buffered-none") : ranges.map(([from, to]) => `${clock(from)}–${clock(to)}`).join(", ") },
            ]}
          />
        </>
      )}
      <p role="status" className="min-h-5 text-sm text-muted empty:hidden">
        {isStalled && !failure ? t("stalled") : playback === "well" ? t(hasPicture ? "all-well" : "all-well-sound") : ""}
      </p>
    </div>
  );
}

/** Which parts of the file the browser holds. */
function BufferMap({ ranges, length }: { ranges: readonly Range[]; length: number }) {
  if (length === 0) return null;
  const share = (seconds: number) => `${(100 * seconds) / length}%`;
  return (
    <div role="img" aria-label={t("buffer-map")} className="relative h-1.5 overflow-hidden rounded-full bg-sunken">
      {ranges.map(([from, to]) => (
        <span key={from} className="absolute inset-y-0 rounded-full bg-accent-fill" style={{ insetInlineStart: share(from), inlineSize: share(to - from) }} />
      ))}
    </div>
  );
}

function failureSentence({ code, at }: { code: number; at: number }): string {
  if (code === 2) return t("failed-network", { most: mostRetries + 1 });
  return code === 3 ? t("failed-decode", { time: clock(at) }) : t("failed-open");
}

/** A place in a film, as in 1:02:03. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const pad = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(rest)}` : `${minutes}:${pad(rest)}`;
}

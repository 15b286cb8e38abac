import { useEffect, useRef, useState } from "react";
import { CopyBlock } from "@/components/ui/copy-block";
import { Notice } from "@/components/ui/notice";
import { formatDuration } from "@/lib/format";
import { t } from "./en";

const lookAgainMs = 2_000;

/** Plays a link. It checks the picture after two seconds, because browsers do not report pictures that they cannot draw. */
export function Player({ name, link }: { name: string; link: string }) {
  const [begun] = useState(() => performance.now());
  const [ms, setMs] = useState<number | null>(null);
  const [isFailed, setFailed] = useState(false);
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (ms === null) return;
    const timer = setTimeout(() => setFailed(video.current?.videoWidth === 0), lookAgainMs);
    return () => clearTimeout(timer);
  }, [ms]);
  return (
    <div className="grid gap-2">
      <video
        ref={video}
        src={link}
        controls
        autoPlay
        playsInline
        aria-label={t("player", { name })}
        className="aspect-video w-full rounded-lg bg-[#000]"
        onPlaying={() => setMs((before) => before ?? performance.now() - begun)}
        onError={() => setFailed(true)}
      />
      {ms !== null && !isFailed && <p className="text-sm text-muted tabular-nums">{t("first-picture", { time: formatDuration(ms) })}</p>}
      {isFailed && (
        <Notice tone="warn" isAlert>
          <p className="mb-2">{t("play-failed")}</p>
          <CopyBlock label={t("play-link")} value={link} />
        </Notice>
      )}
    </div>
  );
}

import { KeyValues } from "@/components/ui/key-values";
import { formatDuration, formatPosition } from "@/lib/format";
import { t } from "../en";

/** A range of a film in seconds. */
export type Range = readonly [start: number, end: number];

interface PlayerFiguresProps {
  /** Null before the first frame, and without a picture. */
  firstFrameMs: number | null;
  /** Duration of the last seek; null before the first. */
  seekMs: number | null;
  /** The ranges that the browser has buffered. */
  ranges: readonly Range[];
  /** Length in seconds; 0 if unknown. */
  length: number;
}

/** The browser's measurements of a playback. */
export function PlayerFigures({ firstFrameMs, seekMs, ranges, length }: PlayerFiguresProps) {
  const buffered = ranges.map(([from, to]) => `${formatPosition(from * 1_000)}–${formatPosition(to * 1_000)}`).join(", ");
  return (
    <div className="grid gap-3">
      <BufferMap ranges={ranges} length={length} />
      <KeyValues
        items={[
          { label: t("first-frame"), value: firstFrameMs === null ? null : formatDuration(firstFrameMs) },
          { label: t("last-seek"), value: seekMs === null ? null : formatDuration(seekMs) },
          { label: t("buffered"), value: buffered === "" ? t("buffered-none") : buffered },
        ]}
      />
    </div>
  );
}

/** A bar of the ranges that the browser has buffered. */
function BufferMap({ ranges, length }: Pick<PlayerFiguresProps, "ranges" | "length">) {
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

import { queryOptions } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";

export type SubtitleEntry = Schema<"SubtitleEntry">;
type SubtitlePart = Schema<"SubtitlePart">;
export type Span = readonly [start: number, end: number];

/** Most seconds per request, so that its bytes are still in the server's memory. */
const mostSeconds = 60;
/** Seconds of lines that are ready before the player asks for more. */
const aheadSeconds = 10;
const retryMs = 5_000;

/** Loads the list of subtitles next to a film and inside it. */
export const subtitlesQuery = (id: string) =>
  queryOptions({
    queryKey: ["subtitles", id],
    queryFn: ({ signal }) => dataOf(api.GET("/api/files/{id}/subtitles", { params: { path: { id } }, signal })),
  });

/**
 * Returns the seconds to ask for next; null if enough lines are ready. Only what the browser has loaded is asked for, because the server has its bytes in
 * memory then. Nothing loaded means the beginning of a film or of a seek.
 */
export function nextSpan(now: number, ready: readonly Span[], buffered: readonly Span[]): Span | null {
  const from = endAt(now, ready);
  const loaded = Math.max(endAt(now, buffered), now + aheadSeconds);
  if (loaded - from < 1 || (from - now >= aheadSeconds && loaded - from < aheadSeconds)) return null;
  return [from, Math.min(loaded, from + mostSeconds)];
}

/** Where the spans around a place end; the place itself if there are none. */
function endAt(place: number, spans: readonly Span[]): number {
  let end = place;
  for (const [start, stop] of [...spans].sort(([one], [other]) => one - other)) if (start <= end && stop > end) end = stop;
  return end;
}

/**
 * Shows the lines of a track inside a film, and loads them a little ahead of the picture.
 *
 * @returns A sentence of the server if the lines cannot be read; null otherwise.
 */
export function useSubtitleTrack(video: RefObject<HTMLVideoElement | null>, fileId: string, chosen: SubtitleEntry | null): string | null {
  const [problem, setProblem] = useState<{ id: string; sentence: string | null } | null>(null);
  // A browser can add a track to a video, but not take it away.
  const shown = useRef<TextTrack | null>(null);
  const id = chosen?.place === "track" && chosen.form === "text" ? chosen.id : null;

  useEffect(() => {
    const element = video.current;
    if (!element || id === null) return;
    const track = (shown.current ??= element.addTextTrack("subtitles"));
    track.mode = "showing";
    const stop = new AbortController();
    const { signal } = stop;
    const ready: Span[] = [];
    const lines = new Set<string>();
    let [isBusy, isOver] = [false, false];
    let retry: ReturnType<typeof setTimeout> | undefined;

    function add(part: SubtitlePart) {
      for (const { startMs, endMs, text } of part.items) {
        const key = `${startMs} ${text}`;
        if (!lines.has(key)) track.addCue(new VTTCue(startMs / 1_000, endMs / 1_000, text));
        lines.add(key);
      }
    }

    async function load() {
      if (!element || isBusy || isOver || retry !== undefined || signal.aborted) return;
      const span = nextSpan(element.currentTime, ready, spansOf(element.buffered));
      if (!span || (element.duration > 0 && span[0] >= element.duration)) return;
      isBusy = true;
      let hasAdvanced = false;
      try {
        const [from, to] = [Math.floor(span[0] * 1_000), Math.ceil(span[1] * 1_000)];
        const part = await dataOf(api.GET("/api/files/{id}/subtitles/{subtitle}", { params: { path: { id: fileId, subtitle: id ?? "" }, query: { from, to } }, signal }));
        add(part);
        if (part.state === "unreadable") retry = setTimeout(again, retryMs);
        else ready.push([span[0], part.toMs / 1_000]);
        hasAdvanced = part.state !== "unreadable" && part.toMs > from;
        isOver = part.state === "unindexed";
        setProblem({ id: id ?? "", sentence: part.sentence });
      } catch {
        // The server is away or restarts.
        if (!signal.aborted) retry = setTimeout(again, retryMs);
      } finally {
        isBusy = false;
      }
      // The viewer may have moved meanwhile, and a paused film sends no further event.
      if (hasAdvanced) void load();
    }

    function again() {
      retry = undefined;
      void load();
    }

    const begin = () => void load();
    for (const event of ["timeupdate", "progress", "seeking"]) element.addEventListener(event, begin, { signal });
    begin();
    return () => {
      stop.abort();
      clearTimeout(retry);
      for (const cue of [...(track.cues ?? [])]) track.removeCue(cue);
      track.mode = "disabled";
    };
  }, [video, fileId, id]);

  return problem?.id === id ? problem.sentence : null;
}

function spansOf(ranges: TimeRanges): Span[] {
  return Array.from({ length: ranges.length }, (_, at): Span => [ranges.start(at), ranges.end(at)]);
}

import { type RefObject, useEffect } from "react";
import { api } from "@/lib/api-client";
import { queryClient } from "@/lib/query-client";
import { fileQuery } from "./files";

/** How often the position is saved while a film plays. */
export const saveMs = 15_000;

const metadataIsKnown = 1;

/** Saves where a film is while it plays, when it pauses, and when the viewer leaves. A paused film saves nothing again. */
export function useSavedPosition(id: string, video: RefObject<HTMLVideoElement | null>, startMs: number): void {
  useEffect(() => {
    const element = video.current;
    if (!element) return;
    const film = element;
    let saved = startMs;
    let hasPlayed = false;
    let last: Promise<unknown> | null = null;
    let sending = new AbortController();

    function save(): void {
      const positionMs = Math.round(film.currentTime * 1_000);
      // Before the first frame the position would be the beginning, and the stored one would be lost.
      if (!hasPlayed || film.readyState < metadataIsKnown || positionMs === saved) return;
      saved = positionMs;
      // Two requests on their way could arrive in either order.
      sending.abort();
      sending = new AbortController();
      last = put(id, positionMs, film.duration, sending.signal);
    }

    const play = () => void (hasPlayed = true);
    const hide = () => document.visibilityState === "hidden" && save();
    const timer = setInterval(() => !film.paused && save(), saveMs);
    film.addEventListener("playing", play);
    film.addEventListener("pause", save);
    document.addEventListener("visibilitychange", hide);
    window.addEventListener("pagehide", save);
    return () => {
      clearInterval(timer);
      film.removeEventListener("playing", play);
      film.removeEventListener("pause", save);
      document.removeEventListener("visibilitychange", hide);
      window.removeEventListener("pagehide", save);
      save();
      void last?.then(() => showProgress(id));
    };
  }, [id, video, startMs]);
}

/** `keepalive` lets the request outlive the page. A position that cannot be saved is no reason to disturb the viewer. */
async function put(id: string, positionMs: number, duration: number, signal: AbortSignal): Promise<void> {
  const durationMs = Number.isFinite(duration) && duration > 0 ? Math.ceil(duration * 1_000) : null;
  await api.PUT("/api/files/{id}/position", { params: { path: { id } }, body: { positionMs, durationMs }, keepalive: true, signal }).catch(() => undefined);
}

/** Lists show the progress anew, and the film itself is asked for when it is opened again. */
function showProgress(id: string): void {
  queryClient.removeQueries({ queryKey: fileQuery(id).queryKey });
  void queryClient.invalidateQueries({ queryKey: ["files"] });
  void queryClient.invalidateQueries({ queryKey: ["home"] });
}

import { useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect } from "react";
import { api } from "@/lib/api-client";

/** The most bytes that the server takes for a still. */
const mostBytes = 20_000;

/** The first minute is logos and black. */
const firstSecond = 60;

/** A frame that is too dark is followed by another look, in seconds of film. */
const pauseSeconds = 10;

const mostLooks = 30;
const width = 320;

/** Brightness and contrast, from 0 to 255, below which a picture shows nothing. */
const leastBrightness = 32;
const leastContrast = 14;

/** Formats and qualities, the best first. Safari draws no WebP. */
const attempts = ([["image/webp", 0.8], ["image/webp", 0.6], ["image/webp", 0.35], ["image/jpeg", 0.7], ["image/jpeg", 0.5], ["image/jpeg", 0.3]] as const).map(
  ([type, quality]) => ({ type, quality }),
);

/**
 * Takes one picture of a film from what the player shows anyway, so that it costs no byte, and gives it to the server: after a minute of film, and
 * bright enough to see something. Takes none if the id is null. Ignores a failed upload, because Home then shows the drawn card.
 */
export function useStill(video: RefObject<HTMLVideoElement | null>, id: string | null): void {
  const client = useQueryClient();
  useEffect(() => {
    const element = video.current;
    if (!element || id === null) return;
    let next = firstSecond;
    let looks = 0;
    let isBusy = false;
    async function look(shown: HTMLVideoElement, film: string) {
      if (isBusy || looks === mostLooks || shown.paused || shown.seeking || shown.currentTime < next) return;
      isBusy = true;
      looks += 1;
      next = shown.currentTime + pauseSeconds;
      try {
        const still = await takeStill(shown);
        if (!still) return;
        looks = mostLooks;
        await api.PUT("/api/files/{id}/still", { params: { path: { id: film } }, body: "", bodySerializer: () => still, headers: { "Content-Type": still.type } });
        await client.invalidateQueries({ queryKey: ["home"] });
      } catch {
        // Refused, or the browser does not let the page see its own film: neither changes with another try.
        looks = mostLooks;
      } finally {
        isBusy = false;
      }
    }
    const onTime = () => void look(element, id);
    element.addEventListener("timeupdate", onTime);
    return () => element.removeEventListener("timeupdate", onTime);
  }, [video, id, client]);
}

/** The frame that is shown, as a small picture; null if it is too dark, or if no format makes it small enough. */
async function takeStill(video: HTMLVideoElement): Promise<Blob | null> {
  if (video.videoWidth === 0) return null;
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = Math.max(1, Math.round((width * video.videoHeight) / video.videoWidth));
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return null;
  context.drawImage(video, 0, 0, canvas.width, canvas.height);
  if (!isSeen(context.getImageData(0, 0, canvas.width, canvas.height).data)) return null;
  for (const { type, quality } of attempts) {
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, quality));
    if (blob?.type === type && blob.size <= mostBytes) return blob;
  }
  return null;
}

/** Whether there is something to see in pixels of four bytes: not dark, and not one color. */
export function isSeen(pixels: Uint8ClampedArray): boolean {
  let [count, sum, squares] = [0, 0, 0];
  // Every eighth pixel is enough.
  for (let at = 0; at + 2 < pixels.length; at += 32) {
    const light = 0.299 * (pixels[at] ?? 0) + 0.587 * (pixels[at + 1] ?? 0) + 0.114 * (pixels[at + 2] ?? 0);
    count += 1;
    sum += light;
    squares += light * light;
  }
  const mean = sum / Math.max(1, count);
  return mean >= leastBrightness && Math.sqrt(Math.max(0, squares / Math.max(1, count) - mean * mean)) >= leastContrast;
}

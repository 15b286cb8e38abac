import { droppedFiles } from "./dropped-files";
import { tellUploads } from "./first-touch";
import { server } from "./server-watch";

interface Drops {
  /** Called with whether files are dragged over the window. */
  onOver: (isOver: boolean) => void;
  onFiles: (files: Promise<File[]>) => void;
}

let taker: Drops | null = null;
let kept: Promise<File[]>[] = [];

/**
 * Accepts files that are dropped anywhere on the page, because a browser would open them and leave. They are kept until the upload takes them.
 * @returns A function that ends this.
 */
export function acceptDrops(): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const isOver = (is: boolean) => taker?.onOver(is);
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  window.addEventListener(
    "dragover",
    (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      isOver(true);
    },
    { signal },
  );
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && isOver(false), { signal });
  window.addEventListener("drop", () => isOver(false), { signal, capture: true });
  window.addEventListener(
    "drop",
    (event) => {
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      const files = droppedFiles(event.dataTransfer);
      if (taker) taker.onFiles(files);
      else kept.push(files);
      // Loads the upload part, even if the page has not been touched.
      tellUploads();
    },
    { signal },
  );
  const release = server.hold(hasKeptDrops);
  return () => {
    stop.abort();
    release();
  };
}

/** Takes the kept drops and all later ones. Returns a function that ends this. */
export function takeDrops(drops: Drops): () => void {
  taker = drops;
  kept.forEach(drops.onFiles);
  kept = [];
  return () => {
    if (taker === drops) taker = null;
  };
}

/** Whether dropped files wait for the upload part. */
export function hasKeptDrops(): boolean {
  return kept.length > 0;
}

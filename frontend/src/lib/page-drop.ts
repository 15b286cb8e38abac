import { droppedFiles } from "./dropped-files";
import { tellUploads } from "./first-touch";
import { server } from "./server-watch";

interface Drops {
  /** Whether files are held over the window. */
  onOver: (isOver: boolean) => void;
  onFiles: (files: Promise<File[]>) => void;
}

let taker: Drops | null = null;
let kept: Promise<File[]>[] = [];

/**
 * Accepts files that are dropped anywhere on the page: a browser would open them and leave the page. They are kept until the upload takes them.
 * @returns Ends that.
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
      // Loads what takes them, even if nothing has been touched.
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

/** Takes what is dropped from now on, and what was kept. The answer ends that. */
export function takeDrops(drops: Drops): () => void {
  taker = drops;
  kept.forEach(drops.onFiles);
  kept = [];
  return () => {
    if (taker === drops) taker = null;
  };
}

/** Whether dropped files wait to be taken. */
export function hasKeptDrops(): boolean {
  return kept.length > 0;
}

import { useEffect, useState } from "react";

const uploadsBegin = "sluice-uploads";
const signs = ["pointermove", "pointerdown", "keydown", "dragenter", uploadsBegin];

/** Reports that files are being sent. A form may do that before the page is touched otherwise. */
export function tellUploads(): void {
  window.dispatchEvent(new Event(uploadsBegin));
}

/** Whether the page has been touched. The parts for drops and uploads load only then, because a page that is only viewed needs neither. */
export function useFirstTouch(): boolean {
  const [isTouched, setTouched] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const touch = () => {
      stop.abort();
      setTouched(true);
    };
    for (const sign of signs) window.addEventListener(sign, touch, { signal: stop.signal, passive: true });
    return () => stop.abort();
  }, []);
  return isTouched;
}

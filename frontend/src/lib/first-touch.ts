import { useEffect, useState } from "react";

const uploadsBegin = "sluice-uploads";
const signs = ["pointermove", "pointerdown", "keydown", "dragenter", uploadsBegin];

/** Tells that files are being sent, which a form may do before anything else is touched. */
export function tellUploads(): void {
  window.dispatchEvent(new Event(uploadsBegin));
}

/** Whether the page has been touched. What serves drops and uploads is loaded only then: a page that is only looked at needs neither. */
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

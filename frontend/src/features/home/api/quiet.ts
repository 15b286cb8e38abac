import { useEffect, useState } from "react";

/** For browsers that do not report paints, in ms. */
const fallbackMs = 1_000;

/** Marks an element whose paint starts the pictures. */
export const paintMark = { elementtiming: "home" };

/**
 * Whether a marked element has been painted and the browser is idle. Pictures wait for it, so that they never delay text. Frames are no sign of a
 * paint, because they are drawn after the script has ended.
 */
export function useQuiet(): boolean {
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => {
    let idle: number | undefined;
    const onPainted = () => {
      clearTimeout(timer);
      if (typeof requestIdleCallback === "function") idle ??= requestIdleCallback(() => setQuiet(true), { timeout: fallbackMs });
      else setQuiet(true);
    };
    const observer = typeof PerformanceObserver === "function" && PerformanceObserver.supportedEntryTypes.includes("element") ? new PerformanceObserver(onPainted) : null;
    // Entries that came before the observer count too, because Home may be opened again.
    observer?.observe({ type: "element", buffered: true });
    // On a busy device the paint may come later than the fallback.
    const timer = observer === null ? setTimeout(onPainted, fallbackMs) : undefined;
    return () => {
      clearTimeout(timer);
      observer?.disconnect();
      if (idle !== undefined) cancelIdleCallback(idle);
    };
  }, []);
  return isQuiet;
}

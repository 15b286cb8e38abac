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
    const timer = setTimeout(onPainted, fallbackMs);
    const observer = typeof PerformanceObserver === "function" && PerformanceObserver.supportedEntryTypes.includes("element") ? new PerformanceObserver(onPainted) : null;
    observer?.observe({ type: "element" });
    return () => {
      clearTimeout(timer);
      observer?.disconnect();
      if (idle !== undefined) cancelIdleCallback(idle);
    };
  }, []);
  return isQuiet;
}

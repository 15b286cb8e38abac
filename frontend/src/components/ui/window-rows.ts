import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useState } from "react";

const overscan = 8;

/** Returns the visible rows of a list that scrolls with the window. All rows have the same height. */
export function useWindowRows(count: number, rem: number, place: RefObject<HTMLElement | null>, onEnd: (() => void) | undefined) {
  const [top, setTop] = useState(0);
  const height = rem * remPixels();
  const rows = useWindowVirtualizer({ count, estimateSize: () => height, overscan, scrollMargin: top });
  // Content above the rows, such as a banner, may appear or grow later, and the page grows with it.
  useLayoutEffect(() => {
    const measure = () => setTop(Math.round((place.current?.getBoundingClientRect().top ?? 0) + window.scrollY));
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [place]);
  useLayoutEffect(() => rows.measure(), [rows, height]);

  const shown = rows.getVirtualItems();
  const first = shown[0];
  const last = shown.at(-1);
  const isAtEnd = last !== undefined && last.index >= count - 1;
  const reachEnd = useEffectEvent(() => onEnd?.());
  useEffect(() => {
    if (isAtEnd) reachEnd();
  }, [isAtEnd, count]);

  return {
    items: shown.map((item) => item.index),
    before: first ? first.start - top : 0,
    after: last ? rows.getTotalSize() - (last.end - top) : 0,
    scrollTo: (index: number) => rows.scrollToIndex(index, { align: "auto" }),
  };
}

function remPixels(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
}

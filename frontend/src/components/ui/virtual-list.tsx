import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";
import { cx } from "@/lib/cx";

interface VirtualListProps<Item> {
  label: string;
  items: readonly Item[];
  itemKey: (item: Item) => string;
  render: (item: Item) => ReactNode;
  /** Height of most items in pixels; visible ones are measured. */
  estimate?: number;
  /** Keeps the last item visible when new ones arrive. */
  isFollowing?: boolean;
  /** Called with false when the user scrolls up, and with true back at the end. */
  onFollowingChange?: (isFollowing: boolean) => void;
  /** Called when the first item becomes visible, to load older ones. */
  onStart?: () => void;
  /** Must set a height. */
  className?: string;
}

/** A list of any length in a scrolling box, for lines of any height. */
export function VirtualList<Item>({
  label, items, itemKey, render, estimate = 28, isFollowing = false, onFollowingChange, onStart, className,
}: VirtualListProps<Item>) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => estimate,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : itemKey(item);
    },
    overscan: 12,
  });
  useEffect(() => {
    if (isFollowing && items.length > 0) rows.scrollToIndex(items.length - 1, { align: "end" });
  }, [isFollowing, items.length, rows]);
  // Older items inserted before the first must not move the lines that the user reads.
  const first = items[0] === undefined ? "" : itemKey(items[0]);
  const firstBefore = useRef(first);
  const keepPlace = useEffectEvent(() => {
    const at = items.findIndex((item) => itemKey(item) === firstBefore.current);
    firstBefore.current = first;
    if (at > 0 && !isFollowing) rows.scrollToIndex(at, { align: "start" });
  });
  useLayoutEffect(() => keepPlace(), [first]);
  const shown = rows.getVirtualItems();
  // A following list that shows its first item has only not scrolled to its end yet.
  const isAtStart = !isFollowing && shown[0]?.index === 0;
  const reachStart = useEffectEvent(() => onStart?.());
  useEffect(() => {
    if (isAtStart) reachStart();
  }, [isAtStart, items.length]);
  return (
    <div
      ref={box}
      role="region"
      aria-label={label}
      tabIndex={0}
      className={cx("overflow-y-auto overscroll-contain -outline-offset-2", className)}
      onScroll={({ currentTarget: at }) => {
        const isAtEnd = at.scrollHeight - at.scrollTop - at.clientHeight < estimate;
        if (isAtEnd !== isFollowing) onFollowingChange?.(isAtEnd);
      }}
    >
      <ul className="relative w-full" style={{ height: rows.getTotalSize() }}>
        {shown.map((row) => {
          const item = items[row.index];
          return item === undefined ? null : (
            <li
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
              aria-posinset={row.index + 1}
              aria-setsize={items.length}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${row.start}px)` }}
            >
              {render(item)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

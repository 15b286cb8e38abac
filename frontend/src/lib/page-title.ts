import { useLayoutEffect, useSyncExternalStore } from "react";

let title = "";
const listeners = new Set<() => void>();

/** Names the page: the one `h1`, which the top bar draws, and the title of the tab. */
export function usePageTitle(next: string): void {
  useLayoutEffect(() => {
    title = next;
    document.title = next === "" ? "Sluice" : `${next} · Sluice`;
    listeners.forEach((listener) => listener());
  }, [next]);
}

/** The name of the page. */
export function usePageHeading(): string {
  return useSyncExternalStore(subscribe, () => title);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

import { useLayoutEffect, useSyncExternalStore } from "react";

let title = "";
const listeners = new Set<() => void>();

/** Sets the title of the page: its only `h1`, in the top bar, and the title of the tab. */
export function usePageTitle(next: string): void {
  useLayoutEffect(() => {
    title = next;
    document.title = next === "" ? "Sluice" : `${next} · Sluice`;
    listeners.forEach((listener) => listener());
  }, [next]);
}

/** Returns the title of the page. */
export function usePageHeading(): string {
  return useSyncExternalStore(subscribe, () => title);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

import { useCallback, useSyncExternalStore } from "react";

/** Whether a media query matches. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

/** Whether the window is as narrow as a phone. Tables are cards then, and filters are sheets. */
export function useIsPhone(): boolean {
  return useMedia("(max-width: 639px)");
}

import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

/**
 * Moves the focus to the `h1` after each navigation to another path. Not on the first load, and not if the address opens or closes a dialog,
 * because the dialog takes or returns the focus itself (`lib/url-param`).
 */
export function useHeadingFocus(): void {
  const { pathname, state } = useLocation();
  const last = useRef(pathname);
  useEffect(() => {
    if (last.current === pathname) return;
    last.current = pathname;
    if ((state as { keepsFocus?: boolean } | null)?.keepsFocus) return;
    document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }, [pathname, state]);
}

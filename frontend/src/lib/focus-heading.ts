import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

/** Moves the focus to the `h1` after each navigation to another path, and to the top of the page; not on the first load. */
export function useHeadingFocus(): void {
  const { pathname } = useLocation();
  const last = useRef(pathname);
  useEffect(() => {
    if (last.current === pathname) return;
    last.current = pathname;
    document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }, [pathname]);
}

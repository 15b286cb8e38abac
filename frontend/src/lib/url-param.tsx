import type { ComponentProps } from "react";
import { Link, type NavigateFunction, type To, useLocation, useNavigate, useSearchParams } from "react-router";

/** Marks a step of the browser's history that opened a window over a page, so that closing goes back. */
const opened = { isWindow: true, keepsFocus: true };

/** Opens a window over the page at an address of its own. */
export function openWindow(navigate: NavigateFunction, to: To): void {
  void navigate(to, { state: opened, preventScrollReset: true });
}

/** A link to such an address: a click opens the window here, and it can be opened in a tab of its own. */
export function WindowLink(props: ComponentProps<typeof Link>) {
  return <Link {...props} state={opened} preventScrollReset />;
}

/** Closes the window that the address opened: back to where it was opened from, or to the address of the page without it. */
export function useCloseWindow(page: To): () => void {
  const navigate = useNavigate();
  const { state } = useLocation();
  return () => {
    if ((state as typeof opened | null)?.isWindow) void navigate(-1);
    else void navigate(page, { replace: true, preventScrollReset: true, state: { keepsFocus: true } });
  };
}

/** A word of the address that opens a window, as in `?play=<id>`. */
interface WindowParam {
  value: string | null;
  /** The address with another value. */
  to: (value: string) => To;
  open: (value: string) => void;
  close: () => void;
}

/** A word of the address that opens a window: its value, how to open one, and how to close it. */
export function useWindowParam(name: string): WindowParam {
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const { pathname } = useLocation();
  const addressOf = (value: string | null): To => {
    const next = new URLSearchParams(search);
    if (value === null) next.delete(name);
    else next.set(name, value);
    return { pathname, search: next.toString() };
  };
  const close = useCloseWindow(addressOf(null));
  return { value: search.get(name), to: addressOf, open: (value) => openWindow(navigate, addressOf(value)), close };
}

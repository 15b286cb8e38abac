import type { ComponentProps } from "react";
import { Link, type NavigateFunction, type To, useLocation, useNavigate, useSearchParams } from "react-router";

/** Marks a step of the browser's history that opened a dialog over a page, so that closing it goes back. */
const opened = { isWindow: true, keepsFocus: true };

/** Opens a dialog over the page at an address of its own. */
export function openWindow(navigate: NavigateFunction, to: To): void {
  void navigate(to, { state: opened, preventScrollReset: true });
}

/** A link that opens a dialog over the page; a new tab can open the same address. */
export function WindowLink(props: ComponentProps<typeof Link>) {
  return <Link {...props} state={opened} preventScrollReset />;
}

/** Returns a function that closes the dialog of the address: back if it was opened from a page, else to the address without it. */
export function useCloseWindow(page: To): () => void {
  const navigate = useNavigate();
  const { state } = useLocation();
  return () => {
    if ((state as typeof opened | null)?.isWindow) void navigate(-1);
    else void navigate(page, { replace: true, preventScrollReset: true, state: { keepsFocus: true } });
  };
}

/** A query parameter that opens a dialog, as in `?play=<id>`. */
interface WindowParam {
  value: string | null;
  /** Returns the address with another value. */
  to: (value: string) => To;
  open: (value: string) => void;
  close: () => void;
}

/** Returns the value of a query parameter that opens a dialog, and functions to open and close it. */
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

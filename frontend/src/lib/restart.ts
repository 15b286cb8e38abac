import { useEffect } from "react";
import { urlOf } from "./url-base";

const interval = 1_000;

/** Reloads the app at its first page once the server has restarted: it stops answering, or says that it stops, and then serves again. */
export function useReloadAfterRestart(isRestarting: boolean): void {
  useEffect(() => {
    if (!isRestarting) return;
    const abort = new AbortController();
    let wasDown = false;
    const timer = setInterval(() => void look(), interval);
    const look = async () => {
      const isReady = await fetch(urlOf("/readyz"), { signal: abort.signal, cache: "no-store" }).then((answer) => answer.ok, () => false);
      wasDown ||= !isReady;
      if (isReady && wasDown && !abort.signal.aborted) location.assign(urlOf("/"));
    };
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [isRestarting]);
}

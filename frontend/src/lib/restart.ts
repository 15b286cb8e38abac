import { useEffect } from "react";
import { urlOf } from "./url-base";

const interval = 1_000;

/** Opens the first page of the app once the restarting server was not ready and is ready again. */
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

import { useEffect, useEffectEvent, useRef, useState } from "react";

/** The error that ended a playback: a code of `MediaError`, and the position in seconds. */
export interface PlaybackFailure {
  code: number;
  at: number;
}

export const mostRetries = 3;
const retryMs = [1_000, 2_000, 4_000];

/** Reloads a film that stops, up to three times with growing pauses. `reload` gets the position in seconds; `onGiveUp` follows the last failure. */
export function useRetries(reload: (seconds: number) => void, onGiveUp: () => void) {
  const [retries, setRetries] = useState(0);
  const [failure, setFailure] = useState<PlaybackFailure | null>(null);
  const position = useRef(0);

  const retry = useEffectEvent(() => reload(position.current));
  useEffect(() => {
    if (retries === 0 || failure) return;
    const timer = setTimeout(() => retry(), retryMs[retries - 1]);
    return () => clearTimeout(timer);
  }, [retries, failure]);

  return {
    /** Number of reloads so far. */
    retries,
    /** Null while it may still play. */
    failure,
    /** Stores the position in seconds at which a reload continues. */
    keepPlace: (seconds: number) => {
      position.current = seconds;
    },
    /** Must be called when the element reports an error. */
    fail: (error: MediaError | null) => {
      if (retries < mostRetries) return setRetries(retries + 1);
      setFailure({ code: error?.code ?? 0, at: position.current });
      onGiveUp();
    },
    /** Starts again with all retries. */
    tryAgain: () => {
      setFailure(null);
      setRetries(0);
      reload(position.current);
    },
  };
}

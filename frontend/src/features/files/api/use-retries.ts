import { useEffect, useEffectEvent, useRef, useState } from "react";

/** The error that ended a playback: its code as in `MediaError`, and its place in seconds. */
export interface PlaybackFailure {
  code: number;
  at: number;
}

export const mostRetries = 3;
const retryMs = [1_000, 2_000, 4_000];

/** Loads a film again if it stops, three times with growing pauses. `reload` is given the place in seconds; `onGiveUp` is called after the last one. */
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
    /** How often it has been loaded again. */
    retries,
    /** Null while it may still play. */
    failure,
    /** Keeps the place in seconds where a reload continues. */
    keepPlace: (seconds: number) => {
      position.current = seconds;
    },
    /** Called if the element reports an error. */
    fail: (error: MediaError | null) => {
      if (retries < mostRetries) return setRetries(retries + 1);
      setFailure({ code: error?.code ?? 0, at: position.current });
      onGiveUp();
    },
    /** Starts over with all retries. */
    tryAgain: () => {
      setFailure(null);
      setRetries(0);
      reload(position.current);
    },
  };
}

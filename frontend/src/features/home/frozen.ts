import { useState } from "react";

/** Returns the value at the moment when it was frozen, or the current value if it is not frozen. */
export function useFrozen<T>(value: T, isFrozen: boolean): T {
  const [held, setHeld] = useState(value);
  const isUseless = held === undefined || held === null;
  if (held !== value && (!isFrozen || isUseless)) setHeld(() => value);
  return isFrozen && !isUseless ? held : value;
}

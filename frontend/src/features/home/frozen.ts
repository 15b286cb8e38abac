import { useState } from "react";

/** A value as it was when it was frozen; the value itself while it is not. */
export function useFrozen<T>(value: T, isFrozen: boolean): T {
  const [held, setHeld] = useState(value);
  const isUseless = held === undefined || held === null;
  if (held !== value && (!isFrozen || isUseless)) setHeld(() => value);
  return isFrozen && !isUseless ? held : value;
}

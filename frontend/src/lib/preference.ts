import { useSyncExternalStore } from "react";

/** A choice that this browser keeps across reloads if it allows storage. */
export interface Preference<T extends string> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

/** Creates a preference with its possible values, the default first. */
export function preference<const T extends string>(name: string, words: readonly [T, ...T[]]): Preference<T> {
  const key = `sluice.${name}`;
  const listeners = new Set<() => void>();
  const read = (text: string | null): T => words.find((word) => word === text) ?? words[0];
  let current: T | undefined;
  return {
    get() {
      current ??= read(stored(key));
      return current;
    },
    set(value) {
      current = value;
      try {
        localStorage.setItem(key, value);
      } catch {
        // Without storage the choice lasts until the page is closed.
      }
      listeners.forEach((listener) => listener());
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Returns the current choice and its setter. */
export function usePreference<T extends string>(choice: Preference<T>): [T, (value: T) => void] {
  return [useSyncExternalStore(choice.subscribe, choice.get), choice.set];
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

import { useSyncExternalStore } from "react";

/** A choice of this browser, kept over reloads where the browser allows it. */
export interface Preference<T extends string> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

/** A preference with its possible words, the default first. */
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
        // A browser without storage keeps the choice until the page is left.
      }
      listeners.forEach((listener) => listener());
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The choice at the moment, and how to change it. */
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

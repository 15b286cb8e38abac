import { useSyncExternalStore } from "react";
import { newId } from "./ids";

/** A short message about an event. */
export interface Toast {
  /** A toast replaces a shown toast with the same id. */
  id?: string;
  title: string;
  body?: string;
  /** Screen readers announce `bad` at once. */
  tone?: "plain" | "ok" | "bad";
  action?: { label: string; run: () => void };
  /** Seconds until it closes: 6 by default, 12 with a button or bad news; null keeps it until it is closed. The pointer on it stops the clock. */
  seconds?: number | null;
}

/** A shown toast. */
export type ShownToast = Toast & { id: string; version: number };

const most = 4;
const listeners = new Set<() => void>();
let shown: readonly ShownToast[] = [];
let version = 0;

/** Shows a toast and returns its id. */
export function toast(next: Toast): string {
  version += 1;
  const entry = { ...next, id: next.id ?? newId(), version };
  const isReplaced = shown.some((other) => other.id === entry.id);
  show(isReplaced ? shown.map((other) => (other.id === entry.id ? entry : other)) : [...shown.slice(-(most - 1)), entry]);
  return entry.id;
}

export function dismissToast(id: string): void {
  show(shown.filter((entry) => entry.id !== id));
}

function show(next: readonly ShownToast[]): void {
  shown = next;
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useToasts(): readonly ShownToast[] {
  return useSyncExternalStore(subscribe, () => shown);
}

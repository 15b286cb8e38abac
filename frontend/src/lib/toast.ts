import { useSyncExternalStore } from "react";
import { newId } from "./ids";

/** A short word about what has happened. */
export interface Toast {
  /** A toast with the id of one that is shown takes its place. */
  id?: string;
  title: string;
  body?: string;
  /** `bad` is read out at once. */
  tone?: "plain" | "ok" | "bad";
  action?: { label: string; run: () => void };
  /** How long it stays; 6, with a button or bad news 12; null until it is closed. It stays while it is pointed at. */
  seconds?: number | null;
}

/** A toast as it is shown. */
export type ShownToast = Toast & { id: string; version: number };

const most = 4;
const listeners = new Set<() => void>();
let shown: readonly ShownToast[] = [];
let version = 0;

/** Shows a toast; the answer is its id. */
export function toast(next: Toast): string {
  version += 1;
  const entry = { ...next, id: next.id ?? newId(), version };
  const isReplaced = shown.some((other) => other.id === entry.id);
  show(isReplaced ? shown.map((other) => (other.id === entry.id ? entry : other)) : [...shown.slice(-(most - 1)), entry]);
  return entry.id;
}

/** Takes a toast away. */
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

/** The toasts that are shown. */
export function useToasts(): readonly ShownToast[] {
  return useSyncExternalStore(subscribe, () => shown);
}

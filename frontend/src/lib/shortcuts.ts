import { useEffect, useEffectEvent } from "react";
import { preference } from "./preference";

/** A key or a sequence of keys, and its action. */
export interface Shortcut {
  /** As in `mod+k`, `/`, `g q`, `Shift+x`, `Delete`; `mod` is Ctrl, or Command on a Mac. */
  keys: string;
  label: string;
  run: () => void;
}

/** Whether single letters are shortcuts. Users of speech input that types letters turn this off. */
export const letterKeys = preference("letter-keys", ["on", "off"]);

const sequenceMs = 1_000;
const active = new Set<Shortcut>();
const noted = new Set<Pick<Shortcut, "keys" | "label">>();
let pending = "";
let pressedAt = 0;

/** Returns the current shortcuts for the list that `?` opens. */
export function activeShortcuts(): Pick<Shortcut, "keys" | "label">[] {
  return [...active, ...noted].filter(({ label }) => label !== "");
}

/** Lists keys that a component handles itself, as a table does for its focused row. */
export function useKeyNotes(notes: readonly Pick<Shortcut, "keys" | "label">[]): void {
  const words = JSON.stringify(notes);
  useEffect(() => {
    const mine = JSON.parse(words) as typeof notes;
    mine.forEach((note) => noted.add(note));
    return () => mine.forEach((note) => noted.delete(note));
  }, [words]);
}

/** Registers a shortcut while the component is mounted. */
export function useShortcut(keys: string, label: string, run: () => void, isEnabled = true): void {
  const onPress = useEffectEvent(run);
  useEffect(() => {
    if (!isEnabled) return;
    const shortcut = { keys, label, run: () => onPress() };
    active.add(shortcut);
    return () => void active.delete(shortcut);
  }, [keys, label, isEnabled]);
}

/** Runs the shortcut of a key, the latest registration first. Must be called for each `keydown` of the window. */
export function pressKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const key = nameOf(event);
  const isFree = /^(mod|alt)\+/.test(key) || key === "Escape";
  if (!isFree && (isEditable(event.target) || isInDialog(event.target))) return;
  const sequence = event.timeStamp - pressedAt < sequenceMs && pending !== "" ? `${pending} ${key}` : key;
  const hit = find(sequence) ?? find(key);
  pending = hit ? "" : key;
  pressedAt = event.timeStamp;
  if (!hit || (letterKeys.get() === "off" && isLetters(hit.keys))) return;
  event.preventDefault();
  hit.run();
}

function find(keys: string): Shortcut | undefined {
  return [...active].reverse().find((shortcut) => shortcut.keys === keys);
}

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isPrinted = event.key.length === 1 && !/[a-z]/i.test(event.key);
  return `${event.ctrlKey || event.metaKey ? "mod+" : ""}${event.altKey ? "alt+" : ""}${event.shiftKey && !isPrinted ? "Shift+" : ""}${key}`;
}

function isLetters(keys: string): boolean {
  return keys.split(" ").every((key) => /^(Shift\+)?.$/.test(key));
}

function isEditable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select"));
}

function isInDialog(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("[role=dialog], [role=menu]") !== null;
}

import { expect, it } from "vitest";
import { keepTyping, takeTyped } from "./typed-ahead";

function press(key: string, more: KeyboardEventInit = {}): boolean {
  return window.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true, ...more }));
}

it("keeps what is typed before its field is there, and lets no key act meanwhile", () => {
  keepTyping();
  expect(["g", "x", "Backspace", " ", "h", "Enter"].map((key) => press(key))).toEqual([false, false, false, false, false, false]);
  expect(press("r", { ctrlKey: true })).toBe(true);
  expect(takeTyped()).toBe("g h");
  expect(press("g")).toBe(true);
  expect(takeTyped()).toBe("");
});

it("ends with Escape, and forgets what was typed", () => {
  keepTyping();
  press("g");
  press("Escape");
  expect(press("g")).toBe(true);
  expect(takeTyped()).toBe("");
});

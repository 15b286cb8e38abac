import { expect, it } from "vitest";
import { keepTyping, takeTyped } from "./typed-ahead";

function press(key: string, more: KeyboardEventInit = {}): boolean {
  return window.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true, ...more }));
}

it("keeps text typed before its field is loaded, and blocks shortcuts meanwhile", () => {
  keepTyping();
  expect(["g", "x", "Backspace", " ", "h", "Enter"].map((key) => press(key))).toEqual([false, false, false, false, false, false]);
  expect(press("r", { ctrlKey: true })).toBe(true);
  expect(takeTyped()).toBe("g h");
  expect(press("g")).toBe(true);
  expect(takeTyped()).toBe("");
});

it("stops on Escape and forgets the typed text", () => {
  keepTyping();
  press("g");
  press("Escape");
  expect(press("g")).toBe(true);
  expect(takeTyped()).toBe("");
});

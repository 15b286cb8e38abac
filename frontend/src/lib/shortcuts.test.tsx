import { render } from "@testing-library/react";
import { fireEvent } from "@testing-library/dom";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { letterKeys, pressKey, useShortcut } from "./shortcuts";

function Page({ run }: { run: (what: string) => void }) {
  useShortcut("g q", "queue", () => run("g q"));
  useShortcut("mod+k", "search", () => run("mod+k"));
  useShortcut("?", "help", () => run("?"));
  return <input />;
}

beforeEach(() => window.addEventListener("keydown", pressKey));
afterEach(() => {
  window.removeEventListener("keydown", pressKey);
  letterKeys.set("on");
});

it("runs single keys and sequences, but not while the user types", () => {
  const run = vi.fn();
  const { getByRole } = render(<Page run={run} />);
  fireEvent.keyDown(document.body, { key: "g" });
  fireEvent.keyDown(document.body, { key: "q" });
  fireEvent.keyDown(document.body, { key: "?", shiftKey: true });
  fireEvent.keyDown(getByRole("textbox"), { key: "?" });
  fireEvent.keyDown(getByRole("textbox"), { key: "k", ctrlKey: true });
  expect(run.mock.calls.flat()).toEqual(["g q", "?", "mod+k"]);
});

it("ignores single letters once they are turned off", () => {
  const run = vi.fn();
  render(<Page run={run} />);
  letterKeys.set("off");
  fireEvent.keyDown(document.body, { key: "?" });
  fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
  expect(run.mock.calls.flat()).toEqual(["mod+k"]);
});

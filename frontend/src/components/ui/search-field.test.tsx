import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SearchField } from "./search-field";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Types the text and waits until it settles. */
function type(text: string) {
  fireEvent.change(screen.getByRole("searchbox"), { target: { value: text } });
  act(() => void vi.advanceTimersByTime(100));
}

it("keeps typed text while the address still has an earlier search", () => {
  const searches: string[] = [];
  const field = (value: string) => <SearchField label="Search" value={value} onChange={(next) => searches.push(next)} />;
  const { rerender } = render(field(""));
  const box = screen.getByRole("searchbox");
  type("a");
  type("ab");
  expect(box).toHaveValue("ab");
  // The address follows late, one search at a time.
  rerender(field("a"));
  expect(box).toHaveValue("ab");
  rerender(field("ab"));
  expect(box).toHaveValue("ab");
  expect(searches).toEqual(["a", "ab"]);
});

it("takes over a search that was set elsewhere", () => {
  const field = (value: string) => <SearchField label="Search" value={value} onChange={() => undefined} />;
  const { rerender } = render(field(""));
  type("ab");
  rerender(field("ab"));
  rerender(field(""));
  expect(screen.getByRole("searchbox")).toHaveValue("");
});

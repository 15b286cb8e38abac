import { expect, it } from "vitest";
import { foldRows } from "./events";

it("foldRows replaces changed rows, drops removed ones and returns unknown ones", () => {
  const rows = [{ id: "a", n: 1 }, { id: "b", n: 1 }, { id: "c", n: 1 }];
  const folded = foldRows(rows, [{ id: "b", n: 2 }, { id: "d", n: 2 }], ["c", "z"]);
  expect(folded).toEqual({ items: [{ id: "a", n: 1 }, { id: "b", n: 2 }], unknown: [{ id: "d", n: 2 }], removed: 1 });
  expect(folded.items[0]).toBe(rows[0]);
});

import { expect, it } from "vitest";
import { findingsOf, timelineOf } from "./steps";

it("words the findings of a step, without zeros", () => {
  expect(findingsOf("1 files, 2 heads, 2 fetches, 1181612 bytes")).toBe("1 file, 2 files sampled, 1.2 MB read");
  expect(findingsOf("1 files, 0 sets refused, 1 volumes predicted, 0 notes")).toBe("1 file, 1 volume predicted");
  expect(findingsOf("64 asked, 0 missing")).toBe("64 articles checked, 0 missing");
  expect(findingsOf("0 indexes")).toBe("");
  expect(findingsOf("3 files, names from Inner, Subject")).toBe("3 files");
  expect(findingsOf("")).toBe("");
});

it("has a label for each step and state", () => {
  expect(timelineOf([{ step: "read", state: "done", ms: 3, detail: "2 files, 40 segments" }])).toEqual([
    { label: "Read NZB", state: "done", stateLabel: "done", ms: 3, detail: "2 files, 40 articles" },
  ]);
});

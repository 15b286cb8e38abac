import { describe, expect, it } from "vitest";
import { nextSpan } from "./api/subtitles";

describe("nextSpan", () => {
  it("asks for what the browser has loaded, a minute at most", () => {
    expect(nextSpan(0, [], [])).toEqual([0, 10]);
    expect(nextSpan(0, [], [[0, 25]])).toEqual([0, 25]);
    expect(nextSpan(0, [], [[0, 300]])).toEqual([0, 60]);
    expect(nextSpan(30, [[0, 60]], [[0, 300]])).toEqual([60, 120]);
  });

  it("waits until more is loaded than is ready", () => {
    expect(nextSpan(0, [[0, 25]], [[0, 30]])).toBeNull();
    expect(nextSpan(0, [[0, 25]], [[0, 35]])).toEqual([25, 35]);
    expect(nextSpan(20, [[0, 25]], [[0, 28]])).toEqual([25, 30]);
    expect(nextSpan(0, [[0, 25]], [[0, 25]])).toBeNull();
  });

  it("begins anew after a seek, and joins what is ready", () => {
    expect(nextSpan(1_000, [[0, 60]], [[0, 60], [995, 1_020]])).toEqual([1_000, 1_020]);
    expect(nextSpan(10, [[30, 60], [0, 30]], [[0, 100]])).toEqual([60, 100]);
    expect(nextSpan(20, [[40, 60]], [[0, 100]])).toEqual([20, 80]);
  });
});

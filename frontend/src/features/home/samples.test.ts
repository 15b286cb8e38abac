import { describe, expect, it } from "vitest";
import { type StatSample, addSample, columnsOf, isGap } from "./samples";

const start = Date.parse("2026-01-01T10:00:00Z");

function at(second: number, fromProviders = 0, streams = 0): StatSample {
  const time = new Date(start + second * 1_000).toISOString();
  return { at: time, fromProviders, toPlayers: 0, fromCache: 0, streams, connectionsUsed: 0, connectionsMax: 50 };
}

describe("addSample", () => {
  it("adds a sample each second and drops those older than the window", () => {
    const full = Array.from({ length: 600 }, (_, second) => at(second));
    const { samples } = addSample({ samples: full, pending: [] }, at(600), "ten-minutes");
    expect(samples).toHaveLength(600);
    expect(samples[0]?.at).toBe(at(1).at);
    expect(samples.at(-1)?.at).toBe(at(600).at);
  });

  it("adds no sample twice, for example after a snapshot", () => {
    const known = { samples: [at(1), at(2)], pending: [] };
    expect(addSample(known, at(2), "ten-minutes").samples).toHaveLength(2);
  });

  it("merges ten in the window of an hour: the mean of rates, the maximum of counts", () => {
    let known: { samples: readonly StatSample[]; pending: readonly StatSample[] } = { samples: [at(0)], pending: [] };
    for (let second = 1; second <= 9; second += 1) known = addSample(known, at(second, 100, 1), "hour");
    expect(known.samples).toHaveLength(1);
    known = addSample(known, at(10, 200, 3), "hour");
    expect(known.samples.at(-1)).toMatchObject({ at: at(10).at, fromProviders: 110, streams: 3 });
    expect(known.pending).toEqual([]);
  });
});

describe("columnsOf", () => {
  it("begins at the edge of the window, and has a gap while the server was stopped", () => {
    const { times, rows } = columnsOf([at(500), at(501), at(520)], "ten-minutes");
    const second = (time: number) => time - start / 1_000;
    expect(times.map(second)).toEqual([-80, 500, 501, 502, 520]);
    expect(rows.map((row) => row !== null)).toEqual([false, true, true, false, true]);
  });

  it("is empty without samples", () => {
    expect(columnsOf([], "hour")).toEqual({ times: [], rows: [] });
  });
});

describe("isGap", () => {
  it("is true once more than a few seconds are missing", () => {
    expect(isGap(at(0), at(3), "ten-minutes")).toBe(false);
    expect(isGap(at(0), at(60), "ten-minutes")).toBe(true);
    expect(isGap(undefined, at(60), "ten-minutes")).toBe(false);
  });
});

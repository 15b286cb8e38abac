import { describe, expect, it } from "vitest";
import { steadyOf } from "./steady";

const sample = (second: number, fromProviders: number, connectionsUsed: number) => ({
  at: new Date(Date.UTC(2026, 0, 1, 10, 0, second)).toISOString(), fromProviders, toPlayers: 0, fromCache: 0, streams: 1, connectionsUsed, connectionsMax: 30,
});

describe("steadyOf", () => {
  it("returns the mean of rates and the maximum of connections, so that bursts are smoothed", () => {
    const samples = [sample(0, 9e9, 30), ...Array.from({ length: 9 }, (_, at) => sample(at + 11, 0, 0)), sample(20, 20e6, 4)];
    expect(steadyOf(samples)).toMatchObject({ fromProviders: 2e6, connectionsUsed: 4, streams: 1 });
  });

  it("is undefined without a sample", () => expect(steadyOf([])).toBeUndefined());
});

import { describe, expect, it } from "vitest";
import type { Schema } from "@/lib/api-client";
import { runsOf } from "./cells";
import { diagnosticsOf } from "./diagnostics";
import { verdictOf } from "./verdict";

const at = "2026-01-01T10:00:00Z";

type Change = Partial<Schema<"StreamRow">> & { wait?: Schema<"WaitReason">; missing?: number };

function stream({ missing = 0, ...item }: Change = {}): Schema<"StreamDetail"> {
  return {
    item: {
      id: "s1", file: { id: "f1", name: "Film.mkv", path: "movies/Film/Film.mkv", bytes: 1e9, film: null, durationMs: null }, client: "10.0.0.2", player: "VLC", state: "playing",
      startedAt: at, lastReadAt: "2026-01-01T10:05:00Z", position: 2.5e8, aheadBytes: 5e7, bytesSent: 3e8, bytesPerSecond: 2e6, firstByteMs: 80,
      seeks: 1, wait: "none", ...item,
    },
    map: { cells: "ddmmf--x", memoryBytes: 5e7, diskBytes: 1e8, inFlight: 2, missing },
    articles: [{ provider: "News", offset: 3e8, bytes: 1_000, ms: 40.4, state: "late" }],
    seeks: [{ at, offset: 2e8, firstByteMs: null }],
    wait: { reason: item.wait ?? "none", value: item.wait ? 50 : null, unit: item.wait ? "connections" : null, since: at },
    retries: 3, requests: 4, rates: [1, 2, 3],
  };
}

describe("runsOf", () => {
  it("merges adjacent cells of one kind", () => {
    expect(runsOf("ddm-")).toEqual([
      { kind: "d", from: 0, to: 0.5 },
      { kind: "m", from: 0.5, to: 0.75 },
      { kind: "-", from: 0.75, to: 1 },
    ]);
  });

  it("treats an unknown letter as not loaded, and handles an empty map", () => {
    expect(runsOf("?-")).toEqual([{ kind: "-", from: 0, to: 1 }]);
    expect(runsOf("")).toEqual([]);
  });
});

describe("verdictOf", () => {
  it.each([
    ["ok", /smoothly with 25 sec buffered/, {}],
    ["info", /with only 1 sec buffered. It may stutter/, { aheadBytes: 1e6 }],
    ["ok", /smoothly with 1 sec buffered/, { aheadBytes: 1e6, wait: "player-slow" }],
    ["warn", /playback may pause/, { wait: "provider-slots", aheadBytes: 0 }],
    ["info", /Playing with 25 sec buffered, waiting for more/, { wait: "provider-slots" }],
    ["bad", /^2 articles are missing/, { missing: 2, wait: "provider-slots" }],
    ["ok", /Paused, with 50 MB/, { state: "paused", wait: "player-slow", bytesPerSecond: 0 }],
    ["ok", /The rest of the file/, { position: 9.9e8, aheadBytes: 1e7 }],
    ["info", /Just started/, { lastReadAt: at, aheadBytes: 0 }],
    ["info", /has ended/, { state: "ended", missing: 2 }],
  ] as const)("says %s: %s", (tone, sentence, change) => {
    const verdict = verdictOf(stream(change as Change));
    expect(verdict.tone).toBe(tone);
    expect(verdict.sentence).toMatch(sentence);
  });
});

describe("diagnosticsOf", () => {
  it("contains all details in plain units", () => {
    const text = diagnosticsOf(stream({ wait: "provider-slots" }), "1.2.3");
    for (const part of [
      "Sluice 1.2.3, stream s1", "movies/Film/Film.mkv (1000000000 bytes", "VLC at 10.0.0.2", "position: 250000000 (25 %)",
      "wait: provider-slots (50 connections)", "asked for again: 3", "0-25 %: On disk", "News at 300000000: 1000 bytes in 40.4 ms, late",
      "to 200000000 (20 %): none yet", "bytes of the last seconds: 1 2 3",
    ]) expect(text).toContain(part);
  });
});

import { describe, expect, it } from "vitest";
import openapi from "../../../openapi.json";
import { texts } from "./en";
import { type WaitReason, waitNumber, waitWays } from "./wait";

const reasons = openapi.components.schemas.WaitReason.enum as WaitReason[];
const all: Record<string, unknown> = texts;

describe("reasons for waiting", () => {
  it.each(reasons)("%s has a sentence, a cause and an action", (reason) => {
    for (const part of ["sentence", "cause", "action"]) expect(all[`wait.${reason}.${part}`], part).toMatch(/\S.*\.$/);
    expect(waitWays).toHaveProperty([reason]);
  });

  it("have no text for a reason that the server does not know", () => {
    const named = Object.keys(texts).map((key) => /^wait\.([a-z-]+)\./.exec(key)?.[1]).filter((name) => name !== undefined);
    expect([...new Set(named)].sort()).toEqual([...reasons].sort());
  });

  it.each([
    ["provider-slots", 50, "connections", "50 connections in use"],
    ["provider-slow", 2_300, "ms", "requested 2.3 sec ago"],
    ["line-full", 11.9e6, "bytes-per-second", "12 MB/s incoming"],
    ["limit", 5e6, "bytes-per-second", "limit 5 MB/s"],
    ["other-streams", 6, "streams", "shared by 6 streams"],
    ["article-retry", 2_600, "ms", "requested 2.6 sec ago"],
    ["cpu", 97, "percent", "97% across all cores"],
    ["player-slow", 4_200, "ms", "no read for 4.2 sec"],
    ["provider-down", null, null, ""],
    ["none", null, null, ""],
  ] as const)("%s shows its number with its unit", (reason, value, unit, text) => {
    expect(waitNumber({ reason, value, unit, since: "2026-01-01T10:00:00Z" })).toBe(text);
  });
});

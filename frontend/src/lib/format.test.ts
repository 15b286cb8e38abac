import { afterEach, describe, expect, it } from "vitest";
import { formatAgo, formatBytes, formatClock, formatDuration, formatPercent, formatRate, rateUnit } from "./format";

describe("format", () => {
  afterEach(() => rateUnit.set("bytes"));

  it.each([[0, "0 bytes"], [999, "999 bytes"], [4_200, "4.2 kB"], [84_000_000, "84 MB"], [4_200_000_000, "4.2 GB"], [2e15, "2 PB"]])("formats %d bytes", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it("formats rates in bytes or in bits", () => {
    expect(formatRate(84_000_000)).toBe("84 MB/s");
    expect(formatRate(0)).toBe("0 kB/s");
    rateUnit.set("bits");
    expect(formatRate(84_000_000)).toBe("672 Mb/s");
  });

  it.each([[340, "340 ms"], [2_440, "2.4 sec"], [42_000, "42 sec"], [185_000, "3 min 5 sec"], [7_200_000, "2 hr"], [270_000_000, "3 days 3 hr"]])("formats %d ms", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([[60, "2:05"], [1_800, "2:05 PM"], [86_400, "Dec 28"]])("formats a tick of an axis with %i s between ticks", (distance, text) => {
    expect(formatClock(new Date(2_026, 11, 28, 14, 5).getTime(), [0, distance]).replaceAll("\u202f", " ")).toBe(text);
  });

  it("formats percentages and times ago", () => {
    expect(formatPercent(42.4)).toBe("42%");
    expect(formatAgo("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:05:00Z"))).toBe("5 minutes ago");
  });

  it.each([[59.4, "59 seconds ago"], [59.6, "1 minute ago"], [89, "1 minute ago"], [3_569, "59 minutes ago"], [3_571, "1 hour ago"], [86_300, "yesterday"]])("formats %d seconds without 60 of a unit", (seconds, text) => {
    expect(formatAgo(new Date(0), seconds * 1_000)).toBe(text);
  });
});

import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Schema } from "@/lib/api-client";
import { type ProviderDraft, bytesOf, draftOf, errorsOf, saveOf } from "./provider-draft";
import { QuotaMeter } from "./quota-meter";

const quota: Schema<"ProviderQuota"> = {
  byteLimit: 1e12, resetDay: 5, reservePercent: 20, state: "free", limit: 1e12, used: 4e11, left: 6e11,
  lanes: { playback: 2.8e11, scans: 2e10, import: 9e10, checks: 0, other: 1e10 }, bytesPerDay: 1e10, lastsUntil: "2026-02-03", nextReset: "2026-02-05", daysUntilReset: 20,
};

describe("a data cap", () => {
  it("says what is used and left, how long it lasts, and what used it", () => {
    render(<QuotaMeter quota={quota} name="News" />);
    expect(screen.getByRole("progressbar", { name: "Data cap of News" })).toHaveAttribute("aria-valuenow", "40");
    expect(screen.getByText("400 GB of 1 TB used, 600 GB left")).toBeVisible();
    expect(screen.getByText("At 10 GB a day, the rest lasts until February 3. Resets in 20 days, on February 5.")).toBeVisible();
    expect(screen.getByText("Playing 280 GB · Imports 90 GB · Library scans 20 GB · Other 10 GB")).toBeVisible();
  });

  it("says that it lasts until the reset, or that nothing is left", () => {
    const { rerender } = render(<QuotaMeter quota={{ ...quota, lastsUntil: null, daysUntilReset: 1, state: "fill-only" }} name="News" />);
    expect(screen.getByText("At 10 GB a day, the rest lasts until the reset. Resets tomorrow, February 5.")).toBeVisible();
    expect(screen.getByText("Only fills gaps")).toBeVisible();
    rerender(<QuotaMeter quota={{ ...quota, nextReset: null, daysUntilReset: null, state: "spent", left: 0, used: 1e12 }} name="News" />);
    expect(screen.getByText("Refill it once you've bought more.")).toBeVisible();
    expect(screen.getByText("Used up")).toBeVisible();
  });
});

describe("the form of a data cap", () => {
  const capped: ProviderDraft = { ...draftOf(null), host: "a.example", cap: "monthly", byteLimit: "1.5", resetDay: "5" };

  it("keeps the count of the server unless the used amount is changed", () => {
    const row = { ...capped, name: "News", priority: 0, connections: { max: 5 }, quota } as unknown as Parameters<typeof draftOf>[0];
    const draft = draftOf(row);
    expect(draft).toMatchObject({ cap: "monthly", byteLimit: "1000", resetDay: "5", reservePercent: "20", usedBefore: "400" });
    expect(saveOf(draft, row).quota).toEqual({ byteLimit: 1e12, resetDay: 5, reservePercent: 20, usedBefore: null });
    expect(saveOf({ ...draft, usedBefore: "12.5", cap: "block" }, row).quota).toEqual({ byteLimit: 1e12, resetDay: 0, reservePercent: 20, usedBefore: 12_500_000_000 });
    expect(saveOf({ ...draft, cap: "none" }, row).quota).toEqual({ byteLimit: 0, resetDay: 0 });
  });

  it("checks only the fields that it shows", () => {
    expect(errorsOf(capped, null)).toEqual({});
    expect(Object.keys(errorsOf({ ...capped, byteLimit: "0", resetDay: "29", reservePercent: "91", usedBefore: "much" }, null)).sort()).toEqual([
      "byteLimit", "reservePercent", "resetDay", "usedBefore",
    ]);
    expect(errorsOf({ ...capped, cap: "block", resetDay: "29" }, null)).toEqual({});
    expect(errorsOf({ ...capped, cap: "none", byteLimit: "" }, null)).toEqual({});
  });

  it("reads sizes in GB with a point or a comma", () => {
    expect(["1.5", "1,5", "500", "", "-1", "1e3", "12345678901"].map(bytesOf)).toEqual([1.5e9, 1.5e9, 5e11, null, null, null, null]);
  });
});

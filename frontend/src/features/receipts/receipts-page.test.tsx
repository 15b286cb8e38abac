import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { type ReceiptRow, rangeOf } from "./api/receipts";
import { ReceiptsPage } from "./receipts-page";

const film = { title: "Harbour Lights", year: 2024, season: null, episodes: null, quality: "1080p" };
const playback: ReceiptRow = {
  id: "a1", kind: "playback", open: true, startedAt: "2026-11-28T20:00:00Z", endedAt: "2026-11-28T21:40:00Z",
  file: { id: "f1", name: "film.mkv", path: "movies/Harbour.Lights.2024.1080p/film.mkv", film }, login: "admin", client: "10.0.0.2", player: "VLC 3.0", files: 1,
  bytesSent: 4_000_000_000, bytesFromMemory: 1_000, bytesFromDisk: 0, bytesFromProviders: 4_200_000_000,
  providers: [{ id: "p1", name: "News", bytes: 4_000_000_000 }, { id: "p2", name: null, bytes: 150_000_000 }, { id: "p3", name: null, bytes: 50_000_000 }],
  waits: 2, waitedMs: 5_000, longestWaitMs: 3_000, gaps: 1, seeks: 3, firstByteMs: 180,
};
const scan: ReceiptRow = {
  ...playback, id: "b2", kind: "scan", open: false, file: null, login: "", player: "", files: 12, bytesSent: 800_000, bytesFromProviders: 9_000_000, providers: [],
  waits: 0, waitedMs: 0, longestWaitMs: 0, gaps: 0, seeks: 0, firstByteMs: null,
};
const sums = { items: [{ key: "2026-11", name: null, playbacks: 1, playbackBytes: 4_200_000_000, scanBytes: 9_000_000 }] };

describe("ReceiptsPage", () => {
  it("shows playbacks and scans, and all facts of one", async () => {
    mockApi({ "GET /api/receipts": { items: [playback, scan], next: null, total: 2 }, "GET /api/receipts/sums": sums });
    renderAt("/streams/receipts", <ReceiptsPage />);
    const row = await screen.findByRole("row", { name: /Harbour Lights/ });
    expect(within(row).getByText("Playing now")).toBeVisible();
    expect(within(row).getByText("Stopped at 1 gap · 2 waits, 5 sec")).toBeVisible();
    const other = screen.getByRole("row", { name: /Library scan of 12 files/ });
    expect(within(other).getByText("Unknown player at 10.0.0.2")).toBeVisible();
    expect(await screen.findAllByText("1 playback · 9 MB by library scans")).toHaveLength(2);

    await userEvent.click(row);
    const sheet = within(await screen.findByRole("dialog", { name: "Harbour Lights · 2024" }));
    expect(sheet.getByText("From News")).toBeVisible();
    expect(sheet.getByText("From Removed provider").nextSibling).toHaveTextContent("200 MB");
    expect(sheet.getByText("180 ms")).toBeVisible();
    expect(sheet.getByRole("link", { name: "Show playback" })).toHaveAttribute("href", "/streams/a1");
    expect(sheet.getByRole("link", { name: "Show file" })).toHaveAttribute("href", "/files/movies/Harbour.Lights.2024.1080p?file=f1");
  });

  it("says how to get the first receipt", async () => {
    mockApi({ "GET /api/receipts": { items: [], next: null, total: 0 }, "GET /api/receipts/sums": { items: [] } });
    renderAt("/streams/receipts", <ReceiptsPage />);
    expect(await screen.findByText("No receipts yet")).toBeVisible();
    expect(screen.queryByRole("heading", { name: "Months" })).toBeNull();
  });

  it("loads again after a failure", async () => {
    let fails = true;
    const page = { items: [scan], next: null, total: 1 };
    mockApi({ "GET /api/receipts": () => (fails ? problem(500, "storage", "The database can't be read.") : page), "GET /api/receipts/sums": sums });
    renderAt("/streams/receipts", <ReceiptsPage />);
    await screen.findByText("The database can't be read.", undefined, { timeout: 20_000 });
    fails = false;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("row", { name: /Library scan/ })).toBeVisible();
  }, 30_000);

  it("asks for the days of the chosen month", async () => {
    const calls = mockApi({ "GET /api/receipts": { items: [], next: null, total: 0 }, "GET /api/receipts/sums": sums });
    renderAt("/streams/receipts?month=2026-12", <ReceiptsPage />);
    expect(await screen.findByText("No receipts in this month")).toBeVisible();
    const asked = calls.find(({ url }) => url.includes("/api/receipts?"));
    expect(new URL(asked?.url ?? "").search).toContain("from=2026-12-01&to=2027-01-01");
    expect(rangeOf("2026-11")).toEqual({ from: "2026-11-01", to: "2026-12-01" });
    expect(rangeOf("")).toEqual({});
  });
});

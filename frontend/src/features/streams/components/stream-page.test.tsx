import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { StreamPage } from "./stream-page";

const at = "2026-01-01T10:00:00Z";
const detail = {
  item: {
    id: "s1", file: { id: "f1", name: "Film.mkv", path: "movies/The Film/Film.mkv", bytes: 1e9 }, client: "10.0.0.2", player: "", state: "playing",
    startedAt: at, lastReadAt: at, position: 2.5e8, aheadBytes: 5e7, bytesSent: 3e8, bytesPerSecond: 2e6, firstByteMs: 80, seeks: 1, wait: "limit",
  },
  map: { cells: "ddmmf--x", memoryBytes: 5e7, diskBytes: 1e8, inFlight: 2, missing: 0 },
  articles: [], seeks: [{ at, offset: 2e8, firstByteMs: 340 }],
  wait: { reason: "limit", value: 5e6, unit: "bytes-per-second", since: at }, retries: 3, requests: 4, rates: [1, 2, 3],
};

beforeEach(() => {
  vi.stubGlobal("EventSource", class {
    addEventListener() {
      return undefined;
    }
    close() {
      return undefined;
    }
  });
});

describe("the page of a playback", () => {
  it("explains why it waits, and links to the remedy, the file and the log", async () => {
    mockApi({ "GET /api/streams/s1": detail });
    renderAt("/streams/s1", <StreamPage id="s1" />);
    expect(await screen.findByText("Held back by your bandwidth limit.")).toBeInTheDocument();
    expect(document.title).toBe("The Film · Sluice");
    expect(screen.getByText("limit 5 MB/s")).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "Open streaming settings" })).toHaveAttribute("href", "/settings/streaming");
    expect(screen.getByRole("link", { name: "Show file" })).toHaveAttribute("href", "/files/movies/The%20Film?file=f1");
    expect(screen.getByRole("link", { name: "Show log" })).toHaveAttribute("href", "/logs?stream=s1");
    expect(screen.getByText("340 ms")).toBeInTheDocument();
  });

  it("shows the map as a drawing and as a table", async () => {
    mockApi({ "GET /api/streams/s1": detail });
    renderAt("/streams/s1", <StreamPage id="s1" />);
    expect(await screen.findByRole("img", { name: "Buffer map: in memory, on disk or not loaded. The player is at 25%." })).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show as table" }));
    expect(screen.getByRole("row", { name: "On disk 0% · 0 bytes 25% · 250 MB" })).toBeInTheDocument();
    expect(screen.getByRole("row", { name: "Missing 87.5% · 875 MB 100% · 1 GB" })).toBeInTheDocument();
  });

  it("stops the playback", async () => {
    const calls = mockApi({ "GET /api/streams/s1": detail, "DELETE /api/streams/s1": new Response(null, { status: 204 }) });
    renderAt("/streams/s1", <StreamPage id="s1" />);
    await userEvent.click(await screen.findByRole("button", { name: "Stop" }));
    expect(calls.some((call) => call.method === "DELETE")).toBe(true);
  });

  it("says in a sentence that the server has forgotten the playback", async () => {
    mockApi({ "GET /api/streams/s1": problem(404, "not-found", "This playback has ended or never existed.") });
    renderAt("/streams/s1", <StreamPage id="s1" />);
    expect(await screen.findByText("This stream has ended")).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "Open log" })).toHaveAttribute("href", "/logs?stream=s1");
  });
});

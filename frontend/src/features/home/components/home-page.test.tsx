import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import openapi from "../../../../openapi.json";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { newer } from "../api/live";
import { firstSteps } from "../first-evening";
import { ways } from "./attention-card";
import "./first-steps-card";
import { HomePage } from "./home-page";

vi.mock("@/components/ui/chart-body", () => ({ ChartBody: () => null }));

class SilentSource {
  addEventListener() {
    return undefined;
  }
  close() {
    return undefined;
  }
}

const now = { at: "2026-01-01T10:00:00Z", fromProviders: 8e7, toPlayers: 4e7, fromCache: 1e6, streams: 1, connectionsUsed: 24, connectionsMax: 50 };
const figures = { cacheHitPercent: 12, firstByteP50: 184, firstByteP95: 1240, limitBytesPerSecond: null, queueItems: 0, releaseCount: 0 };
const done = { hasProvider: true, hasPlayed: true, hasApp: true };
const provider = {
  id: "p1", name: "News", host: "news.example", condition: "resting", sentence: "It refused three times.", use: "primary",
  connections: { connecting: 1, idle: 2, busy: 3, max: 20, cap: 12 }, bytesPerSecond: 0, bytesToday: 0, missPercent: null, latencyMs: null,
};
const stream = {
  id: "s1", file: { id: "f", name: "Film.mkv", path: "movies/Film/Film.mkv", bytes: 100 }, client: "10.0.0.2", player: "VLC", state: "playing",
  startedAt: now.at, lastReadAt: now.at, position: 25, aheadBytes: 10, bytesSent: 25, bytesPerSecond: 5, firstByteMs: 80, seeks: 0, wait: "provider-slots",
};

const chart = "/?window=ten-minutes";

function show(stats: object, rows: { streams?: object[]; scans?: object[]; providers?: object[] } = {}, at = "/") {
  vi.stubGlobal("EventSource", SilentSource);
  const calls = mockApi({
    "GET /api/stats": { now, figures, samples: [now], attention: [], steps: done, seq: 1, ...stats },
    "GET /api/streams": { items: rows.streams ?? [], scans: rows.scans ?? [], seq: 1 },
    "GET /api/providers": { items: rows.providers ?? [], locked: null, seq: 1 },
    "POST /api/providers/p1/reset": { ...provider, condition: "ok" },
  });
  renderAt(at, <HomePage />);
  return calls;
}

beforeEach(() => firstSteps.set("open"));

describe("Home", () => {
  it("shows the throughput in one line, which opens the chart and the figures", async () => {
    show({});
    await userEvent.click(await screen.findByRole("button", { name: /Show chart/ }));
    expect(await screen.findByText("80 MB/s")).toBeInTheDocument();
    expect(screen.getByText("of 50")).toBeInTheDocument();
    expect(screen.getByText("184 ms")).toBeInTheDocument();
    expect(screen.getByText("Nothing needs your attention.")).toBeInTheDocument();
  });

  it("says that there is no provider, with the way to add one", async () => {
    show({});
    expect(await screen.findByText("No provider yet")).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "Add provider" })).toHaveAttribute("href", "/settings/providers");
  });

  it("shows what needs attention, and what says the same once", async () => {
    const row = { kind: "log", level: "warning", sentence: "News cannot be reached.", target: null, since: null };
    show({ attention: [row, { ...row, kind: "provider-fails" }, row] });
    expect(await screen.findAllByText("News cannot be reached.")).toHaveLength(2);
    expect(screen.getByText("Log · 2 times")).toBeInTheDocument();
  });

  it("shows the first steps until all are done", async () => {
    show({ steps: { ...done, hasApp: false } });
    expect(await screen.findByText("2 of 3 done")).toBeInTheDocument();
    expect(firstSteps.get()).toBe("open");
  });

  it("never shows the first steps again once they were done", async () => {
    show({});
    await waitFor(() => expect(firstSteps.get()).toBe("done"));
    cleanup();
    show({ steps: { ...done, hasProvider: false } });
    await screen.findByText("80 MB/s in");
    expect(screen.queryByText("First steps")).not.toBeInTheDocument();
  });

  it("keeps a row for each playback that leads to its page, and a line for each scan", async () => {
    show({}, { streams: [stream], scans: [{ client: "10.0.0.3", player: "Plex", files: 312, bytesSent: 41e6 }] });
    expect(await screen.findByRole("link", { name: "Film" })).toHaveAttribute("href", "/streams/s1");
    expect(screen.getByText("All connections busy")).toBeInTheDocument();
    expect(screen.getByText(/Plex at 10.0.0.3: 312 files/)).toBeInTheDocument();
  });

  it("tells playbacks of files of the same name apart by their releases", async () => {
    const of = (id: string, release: string) => ({ ...stream, id, file: { ...stream.file, name: "film.mkv", path: `movies/${release}/film.mkv` } });
    show({}, { streams: [of("s1", "One.2001"), of("s2", "Two.2002")] });
    expect(await screen.findByRole("link", { name: "One.2001" })).toHaveAttribute("href", "/streams/s1");
    expect(screen.getByRole("link", { name: "Two.2002" })).toHaveAttribute("href", "/streams/s2");
    expect(screen.getAllByText("film.mkv")).toHaveLength(2);
  });

  it("asks a provider again that rests, and shows how many connections it allows", async () => {
    const calls = show({}, { providers: [provider] }, chart);
    const row = within((await screen.findByText("News")).closest("li") as HTMLElement);
    expect(row.getByText(/of 12 allowed \(20 set\)/)).toBeInTheDocument();
    await userEvent.click(row.getByRole("button", { name: "Retry now" }));
    const reset = calls.find((call) => call.method === "POST");
    expect(await reset?.json()).toEqual({ what: "breaker" });
  });

  it("says what could not be loaded, and asks again", async () => {
    vi.stubGlobal("EventSource", SilentSource);
    const calls = mockApi({ "GET /api/stats": problem(500, "broken", "The figures cannot be read.") });
    renderAt("/", <HomePage />);
    const alert = (await screen.findByText("The figures cannot be read.")).closest("[role=alert]") as HTMLElement;
    const before = calls.length;
    await userEvent.click(within(alert).getByRole("button"));
    expect(calls.length).toBeGreaterThan(before);
  });

  it("holds still while it is paused", async () => {
    show({}, {}, chart);
    const button = await screen.findByRole("button", { name: "Pause" });
    await userEvent.click(button);
    expect(screen.getByText("Paused")).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Resume" })).toHaveAttribute("aria-pressed", "true");
  });
});

describe("problems", () => {
  it("have a way out for each kind that the server knows", () => {
    expect(Object.keys(ways).sort()).toEqual([...openapi.components.schemas.AttentionKind.enum].sort());
  });
});

describe("newer", () => {
  it("takes of each part what was told last, by event or by answer", () => {
    const data = { figures, attention: [], steps: done, seq: 5 };
    const other = { ...done, hasApp: false };
    expect(newer(data, { steps: { seq: 4, value: other } }).steps).toBe(done);
    expect(newer(data, { steps: { seq: 6, value: other } }).steps).toBe(other);
  });
});

import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import openapi from "../../../../openapi.json";
import { fakeEvents } from "@/testing/fake-events";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { newer } from "../api/live";
import { firstSteps } from "../first-evening";
import "./chart-panel";
import { HomePage } from "./home-page";
import { ways } from "./needs-you";

vi.mock("@/components/ui/chart-body", () => ({ ChartBody: () => null }));

const now = { at: "2026-01-01T10:00:00Z", fromProviders: 8e7, toPlayers: 4e7, fromCache: 1e6, streams: 1, connectionsUsed: 24, connectionsMax: 50 };
const columns = { start: "2026-01-01T09:59:58Z", step: 2, fromProviders: [80_000], toPlayers: [40_000], fromCache: [1_000], streams: [1], connections: [24] };
const figures = { cacheHitPercent: 12, firstByteP50: 184, firstByteP95: 1240, limitBytesPerSecond: null, queueItems: 0, releaseCount: 0 };
const done = { hasProvider: true, hasPlayed: true, hasApp: true };
const film = { title: "Harbour Lights", year: 2024, season: null, episodes: null, quality: "1080p WEB-DL" };
const provider = {
  id: "p1", name: "News", host: "news.example", condition: "resting", sentence: "It refused three times.", use: "primary",
  connections: { connecting: 1, idle: 2, busy: 3, max: 20, cap: 12 }, bytesPerSecond: 0, bytesToday: 5_000_000_000,
  lanesToday: { playback: 1_000_000_000, scans: 0, import: 4_000_000_000, checks: 0, other: 900 }, missPercent: null, latencyMs: null,
};
const stream = {
  id: "s1", file: { id: "f", name: "film.mkv", path: "movies/Harbour.Lights.2024/film.mkv", bytes: 100, film, durationMs: 6_000_000 }, client: "10.0.0.2", player: "VLC",
  state: "playing", startedAt: now.at, lastReadAt: "2026-01-01T10:05:00Z", position: 25, aheadBytes: 10, bytesSent: 25, bytesPerSecond: 5, firstByteMs: 80, seeks: 0,
  wait: "provider-slots",
};
const failed = {
  kind: "import-failed", id: "import-failed:dead-post", reason: "dead-post", count: 3, name: "Gone.Film.1999", film: null, path: null, missingShare: null, at: now.at,
};
const queue = { count: 0, running: 0, paused: false, pausedUntil: null, name: null, percent: null };
const recent = { path: "movies/Harbour.Lights.2024", film, filmId: "f", media: null, bytes: 4e9, addedAt: now.at, missingShare: null, watchedShare: null, picture: null };
const home = {
  needs: [], problems: [], playing: [], playingCount: 0, pictures: [], recent: [recent], queue, strip: { step: 10, fromProviders: Array(60).fill(80_000), toPlayers: Array(60).fill(0) },
  steps: done, seq: 1,
};

function show(change: object, at = "/") {
  const events = fakeEvents();
  const calls = mockApi({
    "GET /api/home": { ...home, ...change },
    "GET /api/stats": { now, figures, columns, attention: [], steps: done, seq: 1 },
    "GET /api/providers": { items: [provider], locked: null, seq: 1 },
    "POST /api/providers/p1/reset": { ...provider, condition: "ok" },
    "POST /api/history/retry": { count: 3 },
    "POST /api/home/seen": new Response(null, { status: 204 }),
  });
  renderAt(at, <HomePage />);
  return { calls, events };
}

beforeEach(() => firstSteps.set("open"));

describe("Home", () => {
  it("loads all its content with one request", async () => {
    const { calls } = show({});
    await screen.findByText("Recently added");
    expect(calls.map((call) => new URL(call.url).pathname)).toEqual(["/api/home"]);
    expect(screen.queryByText("Needs you")).toBeNull();
  });

  it("loads pictures after the first paint", async () => {
    const { calls } = show({ recent: [{ ...recent, picture: "aa" }], playing: [stream], pictures: [{ fileId: "f", picture: "bb" }] });
    await screen.findByText("Recently added");
    expect(document.querySelector("img")).toBeNull();
    await waitFor(() => expect([...document.querySelectorAll("img")].map((img) => new URL(img.src).pathname)).toEqual(["/api/pictures/bb", "/api/pictures/aa"]), { timeout: 5_000 });
    expect(calls).toHaveLength(1);
  });

  it("plays recent films, and opens releases with several films", async () => {
    show({ recent: [recent, { ...recent, path: "tv/Some.Show.S01", film: { ...film, title: "Some Show", year: null, season: "1" }, filmId: null, missingShare: 0.031 }] });
    expect(await screen.findByRole("link", { name: "Play Harbour Lights, 2024 · 1080p WEB-DL" })).toHaveAttribute("href", "/files/movies/Harbour.Lights.2024?play=f");
    expect(screen.getByRole("link", { name: /^Open Some Show, Season 1/ })).toHaveAttribute("href", "/files/tv/Some.Show.S01");
    expect(screen.getByText("3.1% missing")).toBeInTheDocument();
  });

  it("shows film, position and buffer of a playback, and follows it", async () => {
    const { events } = show({ playing: [stream] });
    expect(await screen.findByRole("link", { name: "Harbour Lights" })).toHaveAttribute("href", "/streams/s1");
    expect(screen.getByText("25:00 of 1:40:00")).toBeInTheDocument();
    expect(screen.getByText("All connections busy")).toBeInTheDocument();
    await waitFor(() => expect(events.hears("streams")).toBe(true));
    events.send("streams", { kind: "delta", seq: 2, items: [{ ...stream, wait: "none", aheadBytes: 60 }], scans: [{ client: "10.0.0.3", player: "Plex", files: 312, bytesSent: 41e6 }] });
    expect(await screen.findByText("12 sec buffered")).toBeInTheDocument();
    expect(screen.getByText("Playing")).toBeInTheDocument();
    expect(screen.getByText(/Plex at 10.0.0.3: 312 files/)).toBeInTheDocument();
  });

  it("lists needs first: failed imports by reason, films with gaps, and problems of the server", async () => {
    const row = { kind: "provider-fails", level: "warning", sentence: "News cannot be reached.", target: null, since: null };
    const gaps = { ...failed, kind: "gaps", id: "gaps", reason: null, count: 1, name: "Paper.Moon", path: "movies/Paper.Moon", missingShare: 0.03 };
    const { calls } = show({ needs: [failed, gaps], problems: [row, row] });
    await screen.findByText("Needs you");
    expect(screen.getAllByText("News cannot be reached.")).toHaveLength(1);
    expect(screen.getByText("Paper.Moon plays with gaps")).toBeInTheDocument();
    expect(screen.getByText(/About 3% of it is missing/)).toBeInTheDocument();
    const line = within(screen.getByText("3 imports failed: Post is gone").closest("li") as HTMLElement);
    expect(line.getByRole("link", { name: "Review" })).toHaveAttribute("href", "/history?result=failed&reason=dead-post");
    await userEvent.click(line.getByRole("button", { name: "Retry all" }));
    expect(await calls.find((call) => call.url.endsWith("/history/retry"))?.json()).toEqual({ filter: { result: "failed", reason: "dead-post" } });
    await userEvent.click(line.getByRole("button", { name: "Seen" }));
    expect(await calls.find((call) => call.url.endsWith("/home/seen"))?.json()).toEqual({ id: failed.id, at: failed.at });
  });

  it("summarizes the queue in one line", async () => {
    show({ queue: { ...queue, count: 4, running: 1, name: "Some.Film", percent: 38 } });
    const line = within(await screen.findByRole("link", { name: /Importing Some.Film/ }));
    expect(line.getByText("3 waiting")).toBeInTheDocument();
    expect(line.getByText("38%")).toBeInTheDocument();
  });

  it("opens the chart and the providers from the throughput line", async () => {
    const { calls } = show({});
    await userEvent.click(await screen.findByRole("button", { name: /Throughput/, expanded: false }));
    expect(await screen.findByText("184 ms")).toBeInTheDocument();
    const row = within((await screen.findByText("News")).closest("li") as HTMLElement);
    expect(row.getByText(/of 12 allowed \(20 set\)/)).toBeInTheDocument();
    expect(row.getByText(/^Imports [^·]+ · Playback [^·]+$/)).toBeInTheDocument();
    await userEvent.click(row.getByRole("button", { name: "Retry now" }));
    expect(await calls.find((call) => call.url.endsWith("/reset"))?.json()).toEqual({ what: "breaker" });
    await userEvent.click(screen.getByRole("button", { name: "Pause" }));
    expect(screen.getByRole("button", { name: "Resume" })).toHaveAttribute("aria-pressed", "true");
  });

  it("shows the first steps until all are done, and never again", async () => {
    show({ steps: { ...done, hasApp: false }, recent: [] });
    expect(await screen.findByText("2 of 3 done")).toBeInTheDocument();
    expect(screen.queryByText("No films yet")).toBeNull();
    cleanup();
    show({});
    await waitFor(() => expect(firstSteps.get()).toBe("done"));
    cleanup();
    show({ steps: { ...done, hasProvider: false }, recent: [] });
    await screen.findByText("No films yet");
    expect(screen.queryByText("First steps")).not.toBeInTheDocument();
  });

  it("reports a failed load, and retries", async () => {
    fakeEvents();
    const calls = mockApi({ "GET /api/home": () => problem(500, "broken", "The database cannot be read.") });
    renderAt("/", <HomePage />);
    const alert = (await screen.findByText("The database cannot be read.")).closest("[role=alert]") as HTMLElement;
    const before = calls.length;
    await userEvent.click(within(alert).getByRole("button"));
    expect(calls.length).toBeGreaterThan(before);
  });
});

describe("problems", () => {
  it("have a link for each kind that the server knows", () => {
    expect(Object.keys(ways).sort()).toEqual([...openapi.components.schemas.AttentionKind.enum].sort());
  });
});

describe("newer", () => {
  it("takes the newer version of each part, from an event or an answer", () => {
    const data = { figures, attention: [], steps: done, seq: 5 };
    const other = { ...done, hasApp: false };
    expect(newer(data, { steps: { seq: 4, value: other } }).steps).toBe(done);
    expect(newer(data, { steps: { seq: 6, value: other } }).steps).toBe(other);
  });
});

import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeEvents } from "@/testing/fake-events";
import { mockApi } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import type { FileDetail, FileRow, FileTracks } from "./api/files";
import { saveMs } from "./api/use-saved-position";
import { FilesPage } from "./files-page";

const at = "2026-11-28T08:00:00Z";
const episode = (number: number) => ({ title: "Tide Pool", year: null, season: "1", episodes: String(number), quality: "1080p WEB" });
const film: FileRow = {
  kind: "file", name: "e1.mkv", path: "tv/Tide.Pool.S01E01/e1.mkv", id: "f1", bytes: 4e9, modifiedAt: at, media: "video", count: null, film: episode(1), filmId: null,
  missingShare: null, details: null, watchedShare: null,
};
const detail: FileDetail = {
  item: film, release: "Tide.Pool.S01E01", category: "tv", postedName: null, encrypted: false, volumes: 1,
  links: { webDav: "http://nas.test/content/e1.mkv", signed: "http://nas.test/view/content/e1.mkv?downloadKey=k&expires=1", signedUntil: at, arrPath: null },
  hasNzb: true, wantsStill: false, positionMs: 60_000, next: { id: "f2", path: "tv/Tide.Pool.S01E02/e2.mkv", film: episode(2) },
};
const tracks: FileTracks = {
  state: "known", container: "Matroska", durationMs: 600_000, sentence: null,
  items: [{ kind: "video", codec: "H.264", type: 'video/mp4; codecs="avc1.640028"', language: null, title: null, channels: null, width: 1_920, height: 1_080, default: true, forced: false }],
};
const answers = {
  "GET /api/files": { path: "", items: [film], next: null, total: 1, seq: 1 }, "GET /api/files/f1": detail, "GET /api/files/f1/tracks": tracks,
  "GET /api/files/f2": { ...detail, item: { ...film, id: "f2", film: episode(2) }, positionMs: null, next: null }, "GET /api/files/f2/tracks": tracks,
  "PUT /api/files/f1/position": () => new Response(null, { status: 204 }),
};

/** Opens the player; jsdom plays nothing, so the test moves the film itself. */
async function openPlayer() {
  const calls = mockApi(answers);
  const page = renderAt("/files?play=f1", <FilesPage path="" />);
  const dialog = await screen.findByRole("dialog", { name: "Tide Pool · S01 E01" });
  const video = await waitFor(() => dialog.querySelector("video") ?? Promise.reject(new Error("no video")));
  const state = { time: 0, isPaused: false };
  Object.defineProperties(video, {
    currentTime: { get: () => state.time, set: (time: number) => (state.time = time) },
    duration: { value: 600 },
    readyState: { value: 4 },
    paused: { get: () => state.isPaused },
  });
  const saved = () => calls.filter(({ method, url }) => method === "PUT" && url.endsWith("/position"));
  const positions = () => Promise.all(saved().map(async (call) => ((await call.clone().json()) as { positionMs: number }).positionMs));
  return { page, dialog, video, state, saved, positions };
}

describe("the player", () => {
  beforeEach(() => {
    fakeEvents();
    vi.spyOn(HTMLMediaElement.prototype, "canPlayType").mockReturnValue("probably");
  });
  afterEach(() => vi.useRealTimers());

  it("resumes where the film was left, and starts over on request", async () => {
    const { dialog, video, state } = await openPlayer();
    fireEvent.loadedMetadata(video);
    expect(state.time).toBe(60);
    expect(within(dialog).getByText("Resumed at 1:00")).toBeVisible();
    await userEvent.click(within(dialog).getByRole("button", { name: "Start over" }));
    expect(state.time).toBe(0);
    expect(within(dialog).queryByText(/^Resumed/)).toBeNull();
  });

  it("saves the position while the film plays, when it pauses and when the viewer leaves, and a paused film saves nothing", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"], shouldAdvanceTime: true });
    const { page, video, state, saved, positions } = await openPlayer();
    act(() => void vi.advanceTimersByTime(2 * saveMs));
    expect(saved()).toHaveLength(0);
    fireEvent.playing(video);
    state.time = 90;
    act(() => void vi.advanceTimersByTime(saveMs));
    state.time = 100;
    state.isPaused = true;
    fireEvent.pause(video);
    act(() => void vi.advanceTimersByTime(10 * saveMs));
    state.time = 200;
    fireEvent(window, new Event("pagehide"));
    state.time = 210;
    page.unmount();
    await waitFor(() => expect(saved()).toHaveLength(4));
    expect(await positions()).toEqual([90_000, 100_000, 200_000, 210_000]);
  });

  it("offers the next episode near the end and as a button, and plays it", async () => {
    const { dialog, video, state } = await openPlayer();
    expect(within(dialog).getByRole("button", { name: "Next episode: S01 E02" })).toBeVisible();
    state.time = 300;
    fireEvent.timeUpdate(video);
    expect(within(dialog).queryByRole("button", { name: "Play next" })).toBeNull();
    state.time = 545;
    fireEvent.timeUpdate(video);
    expect(within(dialog).getByText("Tide Pool · S01 E02")).toBeVisible();
    await userEvent.click(within(dialog).getByRole("button", { name: "Play next" }));
    expect(await screen.findByRole("dialog", { name: "Tide Pool · S01 E02" })).toBeVisible();
  });
});

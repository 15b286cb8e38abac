import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useToasts } from "@/lib/toast";
import { fakeEvents } from "@/testing/fake-events";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { type FileDetail, type FileRow, type FileTracks, touches } from "./api/files";
import { folderPath } from "./api/paths";
import { infuseLink, m3uOf, nameFor, sameOrigin, vlcLink } from "./api/players";
import { FilesPage } from "./files-page";
import { RemovedPage } from "./removed-page";

const at = "2026-11-28T08:00:00Z";
const film: FileRow = { kind: "file", name: "film.mkv", path: "movies/Film/film.mkv", id: "f1", bytes: 4e9, modifiedAt: at, media: "video", count: null, film: null, filmId: null, missingShare: null, details: null, watchedShare: null };
const folder: FileRow = { kind: "release", name: "Fünf & 50%", path: "movies/Fünf & 50%", id: null, bytes: 4e9, modifiedAt: at, media: null, count: 1, film: null, filmId: null, missingShare: null, details: null, watchedShare: null };
const page = (items: FileRow[]) => ({ path: "movies", items, next: null, total: items.length, seq: 10 });
const detail: FileDetail = {
  item: film, release: "Film", category: "movies", postedName: null, encrypted: false, volumes: 3,
  links: { webDav: "http://nas.test/content/film.mkv", signed: "http://nas.test/view/content/film.mkv?downloadKey=k&expires=1", signedUntil: at, arrPath: "/mnt/film.mkv" },
  hasNzb: true, positionMs: null, next: null, wantsStill: false,
};
const tracks = (codec: string, type: string): FileTracks => ({
  state: "known", container: "Matroska", durationMs: 60_000, sentence: null,
  items: [{ kind: "video", codec, type, language: null, title: null, channels: null, width: 1_920, height: 1_080, default: true, forced: false }],
});
const base = { "GET /api/files": page([folder, film]), "GET /api/files/f1": detail };

function Toasts() {
  return <>{useToasts().map((toast) => <button key={toast.id} type="button" onClick={toast.action?.run}>{toast.title}</button>)}</>;
}

describe("FilesPage", () => {
  beforeEach(() => {
    fakeEvents();
    vi.spyOn(HTMLMediaElement.prototype, "canPlayType").mockImplementation((type) => (type.includes("avc1") ? "probably" : ""));
    vi.spyOn(HTMLMediaElement.prototype, "load").mockImplementation(() => undefined);
    vi.spyOn(HTMLMediaElement.prototype, "play").mockImplementation(() => Promise.resolve());
  });
  afterEach(() => vi.useRealTimers());

  it("opens folders at addresses that work for any name", async () => {
    mockApi(base);
    renderAt("/files/movies", <FilesPage path="movies" />);
    expect(await screen.findByRole("link", { name: "Fünf & 50%" })).toHaveAttribute("href", "/files/movies/F%C3%BCnf%20%26%2050%25");
    expect(within(screen.getByRole("navigation", { name: "Folder" })).getByRole("link", { name: "Library" })).toHaveAttribute("href", "/files");
  });

  it("shows a release with one film as that film, with its quality and gaps", async () => {
    const title = { title: "Harbour Lights", year: 2024, season: null, episodes: null, quality: "1080p WEB-DL" };
    const release: FileRow = { ...folder, name: "Harbour.Lights.2024", path: "movies/Harbour.Lights.2024", film: title, filmId: "f1", missingShare: 0.031 };
    mockApi({ ...base, "GET /api/files": page([release]), "GET /api/files/f1/tracks": tracks("H.264", 'video/mp4; codecs="avc1.640028"') });
    renderAt("/files/movies", <FilesPage path="movies" />);
    expect(await screen.findByRole("link", { name: /Harbour Lights/ })).toHaveAttribute("href", "/files/movies?file=f1");
    expect(screen.getByText("1080p WEB-DL")).toBeInTheDocument();
    expect(screen.getByText("3.1% missing")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Play Harbour Lights" }));
    expect(await screen.findByRole("dialog", { name: "film.mkv" })).toBeVisible();
  });

  it("warns before a film plays that parts of it are missing", async () => {
    mockApi({
      ...base, "GET /api/files/f1": { ...detail, item: { ...film, missingShare: 0.031 } }, "GET /api/files/f1/tracks": tracks("H.264", 'video/mp4; codecs="avc1.640028"'),
    });
    renderAt("/files/movies?play=f1", <FilesPage path="movies" />);
    expect(await screen.findByText(/^Plays with gaps: about 3.1% is missing/)).toBeVisible();
  });

  it("offers subtitles by language, and names pictures that no browser shows", async () => {
    const entry = { place: "track", form: "text", codec: "SubRip", language: null, title: null, forced: false, sounds: false, default: false } as const;
    mockApi({
      ...base, "GET /api/files/f1/tracks": tracks("H.264", 'video/mp4; codecs="avc1.640028"'),
      "GET /api/files/f1/subtitles": {
        state: "known", sentence: null,
        items: [
          { ...entry, id: "6f0c1d7e-0000-4000-8000-000000000001", place: "file", language: "fr", title: "film.fr.srt", forced: true },
          { ...entry, id: "0", language: "eng" }, { ...entry, id: "1" }, { ...entry, id: "2", form: "picture", codec: "PGS", language: "deu" },
          { ...entry, id: "3", language: "eng", forced: true }, { ...entry, id: "4", language: "eng", sounds: true },
        ],
      },
    });
    renderAt("/files/movies?play=f1", <FilesPage path="movies" />);
    const choice = await screen.findByRole("combobox", { name: "Subtitles" });
    expect(within(choice).getAllByRole("option").map((option) => option.textContent)).toEqual(["Off", "French · forced", "English", "Track 2", "English · forced", "English · SDH"]);
    expect(screen.getByText("Browsers can't show image-based subtitles: German PGS. Use VLC instead.")).toBeVisible();
  });

  it("searches the whole library from any folder", async () => {
    const calls = mockApi(base);
    renderAt("/files/movies", <FilesPage path="movies" />);
    await screen.findByText("film.mkv");
    await userEvent.type(screen.getByRole("searchbox", { name: "Search the library" }), "big buck{Enter}");
    expect(await screen.findByRole("heading", { name: "2 matches in the library" })).toBeVisible();
    const { searchParams } = new URL(calls.at(-1)?.url ?? "");
    expect([searchParams.get("q"), searchParams.get("path")]).toEqual(["big buck", ""]);
  });

  it("says before playing what this browser cannot play, and offers VLC at once", async () => {
    const calls = mockApi({ ...base, "GET /api/files/f1/tracks": tracks("HEVC 10-bit", 'video/mp4; codecs="hvc1.2.4.L153"') });
    renderAt("/files/movies?play=f1", <FilesPage path="movies" />);
    const dialog = await screen.findByRole("dialog", { name: "film.mkv" });
    expect(await within(dialog).findByText("This browser can't play HEVC 10-bit")).toBeVisible();
    expect(within(dialog).getByRole("button", { name: "Play in VLC" })).toBeVisible();
    expect(dialog.querySelector("video")).toBeNull();
    expect(calls.some((call) => call.url.includes("/view/"))).toBe(false);
    await userEvent.click(within(dialog).getByRole("button", { name: "Try anyway" }));
    expect(dialog.querySelector("video")?.src).toBe("http://localhost:3000/view/content/film.mkv?downloadKey=k&expires=1");
  });

  it("checks again after two seconds, and reports a missing picture", async () => {
    mockApi({ ...base, "GET /api/files/f1/tracks": tracks("H.264", 'video/mp4; codecs="avc1.640028"') });
    renderAt("/files/movies?play=f1", <FilesPage path="movies" />);
    const dialog = await screen.findByRole("dialog", { name: "film.mkv" });
    const video = await waitFor(() => dialog.querySelector("video") ?? Promise.reject(new Error("no video")));
    vi.useFakeTimers();
    fireEvent.playing(video);
    act(() => void vi.advanceTimersByTime(2_000));
    expect(within(dialog).getByRole("alert")).toHaveTextContent("This browser can't decode the video after all");
  });

  it("retries a stopped file three times, then explains the failure", async () => {
    const unreadable = { state: "unreadable", container: null, durationMs: null, items: [], sentence: "The beginning of this file is gone at every provider." };
    let asked = 0;
    mockApi({ ...base, "GET /api/files/f1/tracks": () => (asked++ === 0 ? tracks("H.264", 'video/mp4; codecs="avc1.640028"') : unreadable) });
    renderAt("/files/movies?play=f1", <FilesPage path="movies" />);
    const dialog = await screen.findByRole("dialog", { name: "film.mkv" });
    const video = await waitFor(() => dialog.querySelector("video") ?? Promise.reject(new Error("no video")));
    vi.useFakeTimers();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      fireEvent.error(video);
      expect(within(dialog).getByText(`Playback stopped. Retrying (${attempt} of 3)…`)).toBeVisible();
      act(() => void vi.advanceTimersByTime(4_000));
      expect(HTMLMediaElement.prototype.load).toHaveBeenCalledTimes(attempt);
    }
    fireEvent.error(video);
    vi.useRealTimers();
    expect(await within(dialog).findByText(/The browser can't open this file/)).toBeVisible();
    expect(await within(dialog).findAllByText(/The beginning of this file is gone/)).not.toHaveLength(0);
    expect(HTMLMediaElement.prototype.load).toHaveBeenCalledTimes(3);
  });

  it("shows what a deletion takes before it deletes, and offers to undo it", async () => {
    const impact = {
      files: 2, bytes: 8e9, releases: 2, historyItems: 0, asked: 2, undo: null, until: null,
      playing: [{ client: "192.168.1.5", player: "VLC 3.0", name: "film.mkv" }],
      programs: [{ name: "Radarr", imported: 1, failure: null }, { name: "Sonarr", imported: 0, failure: "Sonarr did not answer in time." }],
    };
    const calls = mockApi({
      ...base, "POST /api/undo/r-7": new Response(null, { status: 204 }),
      "DELETE /api/files": (request: Request) => (request.url.includes("dryRun") ? impact : { ...impact, undo: "r-7", until: at }),
    });
    renderAt("/files/movies", <><FilesPage path="movies" /><Toasts /></>);
    await screen.findByText("film.mkv");
    await userEvent.click(screen.getByRole("checkbox", { name: "Select film.mkv" }));
    await userEvent.click(screen.getByRole("checkbox", { name: "Select Fünf & 50%" }));
    await userEvent.click(within(screen.getByRole("region", { name: "Selected rows" })).getByRole("button", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog", { name: "Delete 2 items?" });
    expect(await within(dialog).findByText(/^2 files, 8/)).toBeVisible();
    expect(within(dialog).getByText("film.mkv (VLC 3.0, 192.168.1.5)")).toBeVisible();
    expect(within(dialog).getByText("Radarr imported it and will report it as missing.")).toBeVisible();
    expect(within(dialog).getByText("Couldn't check with Sonarr: Sonarr did not answer in time.")).toBeVisible();
    expect(calls.filter((call) => call.method === "DELETE")).toHaveLength(1);
    await userEvent.click(within(dialog).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    const deletion = calls.findLast((call) => call.method === "DELETE");
    expect(await deletion?.json()).toEqual({ ids: null, paths: ["movies/Fünf & 50%", "movies/Film/film.mkv"], filter: null, history: null });
    await userEvent.click(await screen.findByRole("button", { name: "2 files deleted" }));
    await waitFor(() => expect(calls.some((call) => call.url.endsWith("/undo/r-7"))).toBe(true));
  });

  it("brings removed files back", async () => {
    const row = { id: "3", category: "movies", name: "Harbour.Lights", path: null, whole: true, files: 2, bytes: 4e9, film: null, removedAt: at, until: at };
    const calls = mockApi({ ...base, "GET /api/quarantine": { items: [row], next: null, total: 1 }, "POST /api/quarantine/restore": { count: 2 } });
    renderAt("/files?view=removed", <><RemovedPage /><Toasts /></>);
    await userEvent.click(await screen.findByRole("checkbox", { name: "Select Harbour.Lights" }));
    await userEvent.click(screen.getByRole("button", { name: "Restore" }));
    expect(await screen.findByText("2 files restored")).toBeVisible();
    expect(await calls.find((call) => call.method === "POST")?.json()).toEqual({ ids: ["3"] });
  });

  it("says that a folder is gone", async () => {
    mockApi({ "GET /api/files": () => problem(404, "not-found", "There is no such folder.") });
    renderAt("/files/nope", <FilesPage path="nope" />);
    expect(await screen.findByText("This folder doesn't exist anymore")).toBeVisible();
  });
});

describe("links to a file", () => {
  it("use the formats of players and playlists", () => {
    expect(vlcLink("http://nas.test/a b")).toBe("vlc://http://nas.test/a b");
    expect(infuseLink("http://nas.test/a?k=1&e=2")).toBe("infuse://x-callback-url/play?url=http%3A%2F%2Fnas.test%2Fa%3Fk%3D1%26e%3D2");
    expect(m3uOf("A\nfilm", "http://x")).toBe("#EXTM3U\n#EXTINF:-1,A film\nhttp://x\n");
    expect(nameFor("a/b:film.mkv", "strm")).toBe("a_b_film.strm");
  });

  it("use the origin of the page", () => {
    expect(sameOrigin("https://other.test/sub/view/content/a%20b.mkv?downloadKey=k")).toBe("http://localhost:3000/sub/view/content/a%20b.mkv?downloadKey=k");
  });
});

it("a list reloads if its folder or a parent has changed, and always during a search", () => {
  expect(touches(["movies"], "movies", "")).toBe(true);
  expect(touches(["movies"], "movies/Film", "")).toBe(true);
  expect(touches(["movies/Film"], "movies", "")).toBe(false);
  expect(touches(["tv"], "movies", "")).toBe(false);
  expect(touches(["tv"], "movies", "film")).toBe(true);
  expect(touches(null, "movies", "")).toBe(true);
});

it("a folder has a page", () => {
  expect([folderPath(""), folderPath("a b/c")]).toEqual(["/files", "/files/a%20b/c"]);
});

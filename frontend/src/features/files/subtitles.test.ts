import { renderHook, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { mockApi } from "@/testing/mock-api";
import { type SubtitleEntry, nextSpan, useSubtitleTrack } from "./api/subtitles";

const english: SubtitleEntry = { id: "2", place: "track", form: "text", codec: "tx3g", language: "en", title: null, forced: false, sounds: false, default: false };

/** A paused film of which the browser has loaded everything, so that after a seek it sends no further event. */
function pausedFilm() {
  const video = document.createElement("video");
  const cues: { text: string }[] = [];
  const track = { mode: "disabled", cues, addCue: (cue: { text: string }) => cues.push(cue), removeCue: () => undefined };
  const state = { time: 0 };
  Object.defineProperties(video, {
    currentTime: { get: () => state.time },
    duration: { value: 600 },
    buffered: { value: { length: 1, start: () => 0, end: () => 600 } },
    addTextTrack: { value: () => track },
  });
  vi.stubGlobal("VTTCue", class {
    constructor(readonly startTime: number, readonly endTime: number, readonly text: string) {}
  });
  return { video, cues, seek: (time: number) => void ((state.time = time), video.dispatchEvent(new Event("seeking"))) };
}

describe("useSubtitleTrack", () => {
  it("loads the lines of a place that a paused film seeks to during a request", async () => {
    const { video, cues, seek } = pausedFilm();
    const calls = mockApi({
      "GET /api/files/f1/subtitles/2": ({ url }: Request) => {
        const [from, to] = [Number(new URL(url).searchParams.get("from")), Number(new URL(url).searchParams.get("to"))];
        return { state: "known", sentence: null, fromMs: from, toMs: to, items: [{ startMs: from, endMs: to, text: `from ${from}` }] };
      },
    });
    const ref = { current: video };
    renderHook(() => useSubtitleTrack(ref, "f1", english));
    seek(300);

    await waitFor(() => expect(cues.map(({ text }) => text)).toContain("from 300000"));
    expect(calls.slice(0, 2).map(({ url }) => new URL(url).searchParams.get("from"))).toEqual(["0", "300000"]);
  });
});

describe("nextSpan", () => {
  it("asks for what the browser has loaded, a minute at most", () => {
    expect(nextSpan(0, [], [])).toEqual([0, 10]);
    expect(nextSpan(0, [], [[0, 25]])).toEqual([0, 25]);
    expect(nextSpan(0, [], [[0, 300]])).toEqual([0, 60]);
    expect(nextSpan(30, [[0, 60]], [[0, 300]])).toEqual([60, 120]);
  });

  it("waits until more is loaded than is ready", () => {
    expect(nextSpan(0, [[0, 25]], [[0, 30]])).toBeNull();
    expect(nextSpan(0, [[0, 25]], [[0, 35]])).toEqual([25, 35]);
    expect(nextSpan(20, [[0, 25]], [[0, 28]])).toEqual([25, 30]);
    expect(nextSpan(0, [[0, 25]], [[0, 25]])).toBeNull();
  });

  it("begins anew after a seek, and joins what is ready", () => {
    expect(nextSpan(1_000, [[0, 60]], [[0, 60], [995, 1_020]])).toEqual([1_000, 1_020]);
    expect(nextSpan(10, [[30, 60], [0, 30]], [[0, 100]])).toEqual([60, 100]);
    expect(nextSpan(20, [[40, 60]], [[0, 100]])).toEqual([20, 80]);
  });
});

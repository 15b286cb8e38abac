import { describe, expect, it } from "vitest";
import type { FileTrack, FileTracks } from "./api/files";
import { checkPlayback, judgeTracks } from "./api/judge-tracks";

const track = (kind: FileTrack["kind"], codec: string, type: string | null, rest: Partial<FileTrack> = {}): FileTrack => ({
  kind, codec, type, language: null, title: null, channels: null, width: null, height: null, default: false, forced: false, ...rest,
});
const avc = track("video", "H.264", 'video/mp4; codecs="avc1.640028"', { default: true });
const hevc = track("video", "HEVC 10-bit", 'video/mp4; codecs="hvc1.2.4.L153.B0"', { default: true });
const aac = track("audio", "AAC", 'audio/mp4; codecs="mp4a.40.2"');
const eac3 = track("audio", "E-AC-3", 'audio/mp4; codecs="ec-3"', { default: true });
const known = (...items: FileTrack[]): FileTracks => ({ state: "known", container: "Matroska", durationMs: 1, items, sentence: null });
const chromium = (type: string) => (/avc1|mp4a/.test(type) ? "probably" : "");

describe("judgeTracks", () => {
  it("asks about exactly the types that the server read", () => {
    const asked: string[] = [];
    judgeTracks(known(avc, aac), (type) => {
      asked.push(type);
      return "maybe";
    });
    expect(asked).toEqual([avc.type, aac.type]);
  });

  it.each([
    ["plays", known(avc, aac), null],
    ["no-picture", known(hevc, aac), "HEVC 10-bit"],
    ["silent", known(avc, eac3), "E-AC-3"],
    ["plays", known(avc, eac3, aac), null],
    ["plays", known(avc), null],
    ["plays", known(track("video", "VC-1", null), aac), null],
    ["unknown", known(track("subtitle", "SubRip", null)), null],
    ["unknown", { ...known(), state: "unknown" as const }, null],
    ["unreadable", { ...known(), state: "unreadable" as const, sentence: "It is gone." }, null],
  ])("finds %s", (outcome, tracks, codec) => {
    const judgement = judgeTracks(tracks, chromium);
    expect(judgement.outcome).toBe(outcome);
    expect(judgement.about?.codec ?? null).toBe(codec);
  });
});

describe("checkPlayback", () => {
  const element = (facts: object) => facts as HTMLVideoElement;

  it.each([
    ["well", { videoWidth: 1_920, webkitDecodedFrameCount: 50, webkitAudioDecodedByteCount: 9_000 }],
    ["no-picture", { videoWidth: 0, webkitDecodedFrameCount: 0, webkitAudioDecodedByteCount: 9_000 }],
    ["no-sound", { videoWidth: 1_920, webkitDecodedFrameCount: 50, webkitAudioDecodedByteCount: 0 }],
    ["no-sound", { videoWidth: 1_920, mozHasAudio: false }],
    ["well", { videoWidth: 1_920 }],
    ["no-picture", { videoWidth: 1_920, getVideoPlaybackQuality: () => ({ totalVideoFrames: 0 }) }],
  ])("finds %s", (found, facts) => {
    expect(checkPlayback(element(facts), true, true)).toBe(found);
  });

  it("does not miss tracks that the file does not have", () => {
    expect(checkPlayback(element({ videoWidth: 0, webkitAudioDecodedByteCount: 1 }), false, true)).toBe("well");
    expect(checkPlayback(element({ videoWidth: 10, webkitDecodedFrameCount: 1, webkitAudioDecodedByteCount: 0 }), true, false)).toBe("well");
  });
});

import type { FileTrack, FileTracks } from "./files";

/** The browser's verdict on a track. Subtitles are for players, and a track of unknown type is unjudged. */
export type Verdict = "plays" | "refused" | "unjudged" | "players";

/** How a file will play in this browser. */
export interface Judgement {
  tracks: readonly { track: FileTrack; verdict: Verdict }[];
  /** Plays; picture or all sound refused; unknown; or file unreadable. */
  outcome: "plays" | "no-picture" | "silent" | "unknown" | "unreadable";
  /** The track that decides the outcome. */
  about: FileTrack | null;
  hasPicture: boolean;
  hasSound: boolean;
}

/** Asks a browser about the exact types that the server has read from the file. */
export function judgeTracks(tracks: FileTracks, canPlayType: (type: string) => string): Judgement {
  const judged = tracks.items.map((track) => ({ track, verdict: verdictOf(track, canPlayType) }));
  const of = (kind: FileTrack["kind"]) => judged.filter(({ track }) => track.kind === kind);
  const pictures = of("video");
  const sounds = of("audio");
  const base = { tracks: judged, hasPicture: pictures.length > 0, hasSound: sounds.length > 0 };
  if (tracks.state !== "known") return { ...base, outcome: tracks.state, about: null };

  const picture = pictures.find(({ track }) => track.default) ?? pictures[0];
  if (picture && picture.verdict === "refused") return { ...base, outcome: "no-picture", about: picture.track };
  // Browsers play the first audio track that they can decode.
  const sound = sounds.find(({ track }) => track.default) ?? sounds[0];
  if (sound && sounds.every(({ verdict }) => verdict === "refused")) return { ...base, outcome: "silent", about: sound.track };
  if (!picture && !sound) return { ...base, outcome: "unknown", about: null };
  return { ...base, outcome: "plays", about: null };
}

function verdictOf(track: FileTrack, canPlayType: (type: string) => string): Verdict {
  if (track.kind === "subtitle") return "players";
  if (track.type === null) return "unjudged";
  return canPlayType(track.type) === "" ? "refused" : "plays";
}

/** The result after two seconds of decoding, because a browser that refuses a track does not report it. */
export type Playback = "well" | "no-picture" | "no-sound";

/** Nonstandard counters that some browsers provide. */
interface CountingVideo extends HTMLVideoElement {
  webkitAudioDecodedByteCount?: number;
  webkitDecodedFrameCount?: number;
  mozHasAudio?: boolean;
}

/** Checks what a video element has decoded. A missing counter counts as success. */
export function checkPlayback(element: HTMLVideoElement, hasPicture: boolean, hasSound: boolean): Playback {
  const video: CountingVideo = element;
  const frames = video.webkitDecodedFrameCount ?? video.getVideoPlaybackQuality?.().totalVideoFrames;
  if (hasPicture && (video.videoWidth === 0 || frames === 0)) return "no-picture";
  if (hasSound && (video.webkitAudioDecodedByteCount === 0 || video.mozHasAudio === false)) return "no-sound";
  return "well";
}

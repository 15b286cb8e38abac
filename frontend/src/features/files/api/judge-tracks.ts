import type { FileTrack, FileTracks } from "./files";

/** What the browser says of a track. Subtitles are for players; a track without a word for it cannot be judged. */
export type Verdict = "plays" | "refused" | "unjudged" | "players";

/** What is to be expected of a file in this browser. */
export interface Judgement {
  tracks: readonly { track: FileTrack; verdict: Verdict }[];
  /** It plays; its picture or all of its sound is refused; it cannot be told; or the file cannot be read. */
  outcome: "plays" | "no-picture" | "silent" | "unknown" | "unreadable";
  /** The track that decides. */
  about: FileTrack | null;
  hasPicture: boolean;
  hasSound: boolean;
}

/** Asks a browser about exactly the types that the server read from the file. */
export function judgeTracks(tracks: FileTracks, canPlayType: (type: string) => string): Judgement {
  const judged = tracks.items.map((track) => ({ track, verdict: verdictOf(track, canPlayType) }));
  const of = (kind: FileTrack["kind"]) => judged.filter(({ track }) => track.kind === kind);
  const pictures = of("video");
  const sounds = of("audio");
  const base = { tracks: judged, hasPicture: pictures.length > 0, hasSound: sounds.length > 0 };
  if (tracks.state !== "known") return { ...base, outcome: tracks.state, about: null };

  const picture = pictures.find(({ track }) => track.default) ?? pictures[0];
  if (picture && picture.verdict === "refused") return { ...base, outcome: "no-picture", about: picture.track };
  // A browser takes the first sound that it can decode.
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

/** What is decoded after two seconds: a browser that refuses a track says nothing. */
export type Playback = "well" | "no-picture" | "no-sound";

/** What browsers count beside the standard. */
interface CountingVideo extends HTMLVideoElement {
  webkitAudioDecodedByteCount?: number;
  webkitDecodedFrameCount?: number;
  mozHasAudio?: boolean;
}

/** Looks at what a video element has decoded. What it does not count is taken for well. */
export function checkPlayback(element: HTMLVideoElement, hasPicture: boolean, hasSound: boolean): Playback {
  const video: CountingVideo = element;
  const frames = video.webkitDecodedFrameCount ?? video.getVideoPlaybackQuality?.().totalVideoFrames;
  if (hasPicture && (video.videoWidth === 0 || frames === 0)) return "no-picture";
  if (hasSound && (video.webkitAudioDecodedByteCount === 0 || video.mozHasAudio === false)) return "no-sound";
  return "well";
}

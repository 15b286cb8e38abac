import { describe, expect, it } from "vitest";
import type { Schema } from "@/lib/api-client";
import { type Provider, commandsOf } from "./commands";
import { playedWords, playsOf } from "./results";

const field = (key: string, title: string, more: object = {}) =>
  ({ key, title, help: "", type: "integer", unit: null, min: 0, max: 1_000, zeroMeans: "unlimited", ...more }) as Schema<"SettingField">;

const context = {
  providers: [{ id: "p1", name: "Main" }, { id: "p2", name: "Second" }] as Provider[],
  fields: [
    field("usenet.max-download-connections", "Total connection limit", { unit: "connections" }),
    field("usenet.bandwidth-limit-mbps", "Bandwidth limit", { unit: "Mbit/s" }),
    field("usenet.max-streams", "Stream limit", { max: 20 }),
    field("usenet.segment-cache.enabled", "Disk cache", { type: "bool" }),
  ],
};
const acts = (text: string) => commandsOf(text, context).map(({ act }) => act);

describe("commands of the search", () => {
  it.each([
    ["dark", { kind: "theme", theme: "dark" }],
    ["pause 1h", { kind: "pause", minutes: 60 }],
    ["pause for 30 minutes", { kind: "pause", minutes: 30 }],
    ["retry failed", { kind: "retry-failed" }],
    ["test main", { kind: "test", provider: context.providers[0] }],
    ["log out", { kind: "log-out" }],
    ["limit 50", { kind: "set", key: "usenet.bandwidth-limit-mbps", title: "Bandwidth limit", value: "50" }],
    ["limit off", { kind: "set", key: "usenet.bandwidth-limit-mbps", title: "Bandwidth limit", value: "0" }],
    ["max connections 30", { kind: "set", key: "usenet.max-download-connections", title: "Total connection limit", value: "30" }],
    ["disk cache off", { kind: "set", key: "usenet.segment-cache.enabled", title: "Disk cache", value: "false" }],
  ])("%s finds its command first", (text, act) => expect(acts(text)[0]).toEqual(act));

  it("offer a pause of an hour or without end, and a test of every provider", () => {
    expect(acts("pause")).toEqual([{ kind: "pause", minutes: 60 }, { kind: "pause", minutes: null }]);
    expect(acts("test")).toHaveLength(2);
  });

  it("ignore invalid values and other words", () => {
    expect(acts("stream limit 99")).toEqual([]);
    expect(acts("pause 0h")).toEqual([]);
    expect(acts("harbour lights 2024")).toEqual([]);
    expect(acts("")).toEqual([]);
  });

  it("play the film named after the word", () => {
    const film = { title: "Harbour Lights", year: 2024, season: null, episodes: null, quality: "1080p" };
    const rows = [
      { kind: "release", name: "Harbour.Lights.2024", path: "movies/Harbour.Lights.2024", id: null, media: null, film, filmId: "7f" },
      { kind: "file", name: "film.mkv", path: "movies/Harbour.Lights.2024/film.mkv", id: "7f", media: "video", film: null, filmId: null },
      { kind: "file", name: "film.srt", path: "movies/Harbour.Lights.2024/film.srt", id: "80", media: "subtitle", film: null, filmId: null },
    ] as unknown as Schema<"FileRow">[];
    expect([playedWords("Play harbour"), playedWords("playground")]).toEqual(["harbour", null]);
    expect(playsOf(rows).map(({ label, path }) => [label, path])).toEqual([["Play Harbour Lights", "/files/movies/Harbour.Lights.2024?play=7f"]]);
  });
});

import { describe, expect, it } from "vitest";
import { playedName } from "./played-name";

describe("playedName", () => {
  it.each([
    ["movies/Big.Buck.Bunny.2008/film.mkv", "film.mkv", { title: "Big.Buck.Bunny.2008", file: "film.mkv" }],
    ["tv/Show.S01/Disc 1/Show.S01E02.mkv", "Show.S01E02.mkv", { title: "Show.S01", file: "Show.S01E02.mkv" }],
    ["movies/Big.Buck.Bunny.2008/Big.Buck.Bunny.2008.mkv", "Big.Buck.Bunny.2008.mkv", { title: "Big.Buck.Bunny.2008", file: null }],
    ["movies/film.mkv", "film.mkv", { title: "film.mkv", file: null }],
    ["film.mkv", "film.mkv", { title: "film.mkv", file: null }],
  ])("of %s", (path, name, expected) => {
    expect(playedName({ path, name })).toEqual(expected);
  });
});

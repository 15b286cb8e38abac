import { describe, expect, it } from "vitest";
import { type FilmTitle, filmLine, filmName, filmPart, hueOf } from "./film";

const film = (change: Partial<FilmTitle> = {}): FilmTitle => ({ title: "Harbour Lights", year: 2024, season: null, episodes: null, quality: "1080p WEB-DL", ...change });

describe("the name of a film", () => {
  it.each([
    [film(), "2024 · 1080p WEB-DL"],
    [film({ season: "2", episodes: "5" }), "S02 E05 · 1080p WEB-DL"],
    [film({ season: "1", quality: null }), "Season 1"],
    [film({ year: null, episodes: "2026-01-02", quality: null }), "2026-01-02"],
    [film({ year: null, quality: null }), ""],
    [null, ""],
  ])("includes its distinguishing part: %#", (title, line) => expect(filmLine(title)).toBe(line));

  it("is that of the release if it has no title", () => expect([filmName(null, "a8f3"), filmName(film(), "a8f3"), filmPart(null)]).toEqual(["a8f3", "Harbour Lights", ""]));

  it("has a color of its own", () => {
    expect(hueOf("Harbour Lights")).toBe(hueOf("Harbour Lights"));
    expect(hueOf("Harbour Lights")).not.toBe(hueOf("Harbour Light"));
  });
});

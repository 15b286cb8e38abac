import { File } from "lucide-react";
import { describe, expect, it } from "vitest";
import type { Schema } from "@/lib/api-client";
import { filesOf, placesOf, settingsOf } from "./results";

const field = (key: string, title: string, help: string) => ({ key, title, help }) as Schema<"SettingField">;

describe("results of the search", () => {
  it("lead to a file in its folder, with each part of the path encoded", () => {
    const row = { kind: "file", name: "film.mkv", path: "movies/A & B/film.mkv", id: "7f" } as Schema<"FileRow">;
    const release = { kind: "release", name: "A & B", path: "movies/A & B", id: null } as Schema<"FileRow">;
    expect(filesOf([row, release]).map((result) => result.path)).toEqual(["/files/movies/A%20%26%20B?file=7f", "/files/movies/A%20%26%20B"]);
  });

  it("find settings by title, or by their help if no title matches", () => {
    const fields = [field("a.b", "Memory", "Bounds read ahead."), field("usenet.read-ahead-mb", "Read ahead", "How much."), field("c", "Other", "")];
    expect(settingsOf(fields, "read ahead").map((result) => result.label)).toEqual(["Read ahead"]);
    expect(settingsOf(fields, "bounds").map((result) => result.label)).toEqual(["Memory"]);
    expect(settingsOf(fields, "READ-ahead mb").map((result) => result.path)).toEqual(["/settings?q=usenet.read-ahead-mb"]);
  });

  it("are all pages before anything is typed", () => {
    const pages = [{ label: "Queue", path: "/queue", icon: File }, { label: "Files", path: "/files", icon: File }];
    expect([placesOf(pages, "").length, placesOf(pages, "que").length]).toEqual([2, 1]);
  });
});

import { describe, expect, it } from "vitest";
import { csvOf } from "./api/export";
import type { HistoryRow } from "./api/history";

const row: HistoryRow = {
  id: "1", name: 'Film, "the" one', category: "movies", result: "failed", reason: "dead-post", sentence: "It is gone.", bytes: 12, completedAt: "2026-11-28T08:00:00Z",
  durationMs: 900, path: null, canRetry: true, inNoLibrary: false, film: null, missingShare: null,
};

describe("csvOf", () => {
  it("quotes if necessary and leaves missing values empty", () => {
    const [head, line] = csvOf([row]).split("\r\n");
    expect(head).toBe("id,name,category,result,reason,sentence,bytes,completedAt,durationMs,path");
    expect(line).toBe('1,"Film, ""the"" one",movies,failed,dead-post,It is gone.,12,2026-11-28T08:00:00Z,900,');
  });

  it("escapes names that look like formulas", () => {
    expect(csvOf([{ ...row, name: "=HYPERLINK(1)" }])).toContain(",'=HYPERLINK(1),");
  });
});

import { describe, expect, it } from "vitest";
import { type LogLine, type LogPage, addNew, addOlder, fits, join, textOf } from "./lines";

function line(seq: number, change: Partial<LogLine> = {}): LogLine {
  return { seq, at: `2026-01-01T10:00:${String(seq % 60).padStart(2, "0")}Z`, level: "information", source: "Queue", text: `Line ${seq}`, job: null, stream: null, ...change };
}

function page(items: LogLine[], next: string | null = null): LogPage {
  return { items, next, total: items.length, seq: 1, sources: [], level: "information", levelUntil: null };
}

const seqs = (lines: { items: readonly LogLine[] }) => lines.items.map((one) => one.seq);

describe("fits", () => {
  const one = line(1, { level: "warning", source: "Providers", text: "Café.Films_2 is missing", job: "j1", stream: "s1" });
  it.each([
    [true, {}],
    [true, { level: "warning" }],
    [false, { level: "error" }],
    [false, { source: "Queue" }],
    [true, { source: "Providers", job: "j1", stream: "s1" }],
    [false, { job: "j2" }],
    [false, { stream: "s2" }],
    [true, { q: "FILMS cafe 2" }],
    [true, { q: "cafe-films" }],
    [false, { q: "cafe gone" }],
  ])("is %s for %o", (isFit, filters) => expect(fits(one, filters)).toBe(isFit));
});

describe("lines", () => {
  it("add new ones once, the newest first", () => {
    const known = { items: [line(2), line(1)], next: null };
    expect(seqs(addNew(known, [line(2), line(3), line(4)]))).toEqual([4, 3, 2, 1]);
    expect(addNew(known, [line(1)])).toBe(known);
  });

  it("add older ones at the end, with their cursor", () => {
    const known = addOlder({ items: [line(5), line(4)], next: "4" }, page([line(4), line(3)], "3"));
    expect(seqs(known)).toEqual([5, 4, 3]);
    expect(known.next).toBe("3");
  });

  it("join an overlapping newer page, and are replaced by any other", () => {
    const known = { items: [line(3), line(2)], next: "2" };
    expect(seqs(join(known, page([line(4), line(3)], "3")))).toEqual([4, 3, 2]);
    const apart = join(known, page([line(9), line(8)], "8"));
    expect(seqs(apart)).toEqual([9, 8]);
    expect(apart.next).toBe("8");
  });

  it("are replaced by those of a restarted server", () => {
    const known = { items: [line(3), line(2)], next: null };
    const anew = { at: "2026-01-02T00:00:00Z" };
    expect(join(known, page([line(3, anew), line(2, anew), line(1, anew)])).items[0]?.at).toBe(anew.at);
  });

  it("are limited to the number that the server keeps", () => {
    const known = { items: Array.from({ length: 5_000 }, (_, index) => line(5_000 - index)), next: "1" };
    const after = addNew(known, [line(5_001)]);
    expect(after.items).toHaveLength(5_000);
    expect(after.next).toBeNull();
  });
});

describe("textOf", () => {
  it("names the job of the line", () => {
    expect(textOf(line(1, { job: "j1" }))).toBe("2026-01-01T10:00:01Z information Queue: Line 1 (job j1)");
  });
});

import { expect, it } from "vitest";
import { beginsLikeNzb, droppedFiles, isNzbName } from "./dropped-files";

const file = (name: string) => ({ isFile: true, name, file: (done: (file: File) => void) => done(new File([], name)) });

const folder = (name: string, children: object[], size = 2) => ({
  isFile: false,
  name,
  createReader: () => {
    const left = [...children];
    return { readEntries: (done: (entries: object[]) => void) => done(left.splice(0, size)) };
  },
});

it("finds all files of folders, whatever the batch size of their readers", async () => {
  const root = folder("all", [file("c.nzb"), folder("sub", [file("d.nzb")]), file("a.nzb"), file("b.txt"), file("e.nzb")]);
  const transfer = { items: [{ webkitGetAsEntry: () => root }], files: [] } as unknown as DataTransfer;
  const names = (await droppedFiles(transfer)).map((found) => found.name);
  expect(names.sort()).toEqual(["a.nzb", "b.txt", "c.nzb", "d.nzb", "e.nzb"]);
});

it("recognizes the names of NZBs, plain and packed", () => {
  expect(["a.nzb", "A.NZB", "a.nzb.gz", "a.nzb.bz2", "a.zip"].every(isNzbName)).toBe(true);
  expect(["a.txt", "nzb", "a.nzb.part", "a.gz"].some(isNzbName)).toBe(false);
});

it("checks the first bytes of a file, packed or not", async () => {
  const begins = (...parts: BlobPart[]) => beginsLikeNzb(new File(parts, "a.nzb"));
  expect(await begins('<?xml version="1.0"?>\n<!DOCTYPE nzb>\n<nzb xmlns="x">')).toBe(true);
  expect(await begins(new Uint8Array([0xff, 0xfe]), Uint8Array.from([..."<nzb>"].flatMap((letter) => [letter.charCodeAt(0), 0])))).toBe(true);
  expect(await begins(new Uint8Array([0x1f, 0x8b, 8]))).toBe(true);
  expect(await begins("<html><body>Log in</body></html>")).toBe(false);
  expect(await begins("")).toBe(false);
});

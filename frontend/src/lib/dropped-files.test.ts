import { expect, it } from "vitest";
import { droppedFiles, isNzbName } from "./dropped-files";

const file = (name: string) => ({ isFile: true, name, file: (done: (file: File) => void) => done(new File([], name)) });

const folder = (name: string, children: object[], size = 2) => ({
  isFile: false,
  name,
  createReader: () => {
    const left = [...children];
    return { readEntries: (done: (entries: object[]) => void) => done(left.splice(0, size)) };
  },
});

it("finds all files of folders, however many their readers hand out at a time", async () => {
  const root = folder("all", [file("c.nzb"), folder("sub", [file("d.nzb")]), file("a.nzb"), file("b.txt"), file("e.nzb")]);
  const transfer = { items: [{ webkitGetAsEntry: () => root }], files: [] } as unknown as DataTransfer;
  const names = (await droppedFiles(transfer)).map((found) => found.name);
  expect(names.sort()).toEqual(["a.nzb", "b.txt", "c.nzb", "d.nzb", "e.nzb"]);
});

it("knows the names of NZBs, alone and packed", () => {
  expect(["a.nzb", "A.NZB", "a.nzb.gz", "a.nzb.bz2", "a.zip"].every(isNzbName)).toBe(true);
  expect(["a.txt", "nzb", "a.nzb.part", "a.gz"].some(isNzbName)).toBe(false);
});

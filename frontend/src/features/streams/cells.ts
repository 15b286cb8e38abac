/** A letter of the map: in memory, on disk, in flight or missing; `-` is nowhere. */
export type Cell = "m" | "d" | "f" | "x" | "-";

/** Adjacent cells of one kind. */
export interface Run {
  kind: Cell;
  /** Fractions of the file, 0 to 1. */
  from: number;
  to: number;
}

export const kinds: readonly Cell[] = ["m", "d", "f", "x", "-"];

/** Merges adjacent cells of one kind. An unknown letter counts as `-`. */
export function runsOf(cells: string): Run[] {
  const runs: Run[] = [];
  for (let index = 0; index < cells.length; index += 1) {
    const kind = kinds.find((known) => known === cells[index]) ?? "-";
    const last = runs.at(-1);
    if (last?.kind === kind) last.to = (index + 1) / cells.length;
    else runs.push({ kind, from: index / cells.length, to: (index + 1) / cells.length });
  }
  return runs;
}

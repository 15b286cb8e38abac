const rows: string[][] = [["Goal", "What", "Median", "p95", "Bar", ""]];

/** Repetitions of most measurements. */
export const rounds = 15;

/** The upper or lower limit of a figure. */
export interface Bar {
  goal: string;
  /** The statistic that it limits; the median if unset. */
  of?: "median" | "p95";
  most?: number;
  least?: number;
}

/** Returns the value that this share of all values lies below. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Adds a line to the table. */
export function note(what: string, values: readonly number[], unit: string, bar?: Bar): void {
  const digits = unit === "" ? 3 : unit === "%" ? 1 : 0;
  const text = (value: number) => `${value.toFixed(digits)} ${unit}`.trim();
  const [median, p95] = [quantile(values, 0.5), quantile(values, 0.95)];
  const judged = bar?.of === "p95" ? p95 : median;
  const isMissed = bar !== undefined && (judged > (bar.most ?? Number.POSITIVE_INFINITY) || judged < (bar.least ?? Number.NEGATIVE_INFINITY));
  const limit = bar === undefined ? "" : `${bar.of === "p95" ? "p95 " : ""}${bar.most === undefined ? "≥" : "≤"} ${bar.most ?? bar.least ?? ""} ${unit}`.trim();
  rows.push([bar?.goal ?? "", what, text(median), values.length > 1 ? text(p95) : "", limit, isMissed ? "missed" : ""]);
}

export function printTable(): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  process.stdout.write(`\n${rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()).join("\n")}\n`);
}

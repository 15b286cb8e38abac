import { saveText } from "@/lib/save-file";
import type { HistoryRow } from "./history";

const columns = ["id", "name", "category", "result", "reason", "sentence", "bytes", "completedAt", "durationMs", "path"] as const satisfies readonly (keyof HistoryRow)[];

/** Returns rows as CSV (RFC 4180), with the field names of the API as header. */
export function csvOf(rows: readonly HistoryRow[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return `${lines.map((cells) => cells.map(cellOf).join(",")).join("\r\n")}\r\n`;
}

function cellOf(value: string | number | null): string {
  if (typeof value === "number") return String(value);
  const text = value ?? "";
  // Spreadsheets read such a text as a formula, and names come from strangers.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Downloads rows as a file. */
export function exportRows(rows: readonly HistoryRow[], format: "csv" | "json"): void {
  if (format === "csv") saveText("sluice-history.csv", "text/csv;charset=utf-8", csvOf(rows));
  else saveText("sluice-history.json", "application/json", JSON.stringify(rows, null, 2));
}

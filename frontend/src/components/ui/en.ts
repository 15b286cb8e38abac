import { createTexts } from "@/lib/i18n/texts";

export const t = createTexts({
  close: "Close",
  copy: "Copy",
  copied: "Copied",
  "copy-by-hand": "Press Ctrl+C to copy the selected text.",
  "row-menu": "Actions for {name}",
  select: "Select {name}",
  "select-all": "Select all rows",
  "sort-by": "Sort by {column}",
  loading: "Loading",
  optional: "optional",
  "show-password": "Show password",
  "hide-password": "Hide password",
  less: "Less",
  more: "More",
  "show-table": "Show as a table",
  "show-chart": "Show as a chart",
  time: "Time",
  "try-again": "Try again",
  "choose-files": "Choose files",
});

/** A curve of a chart. */
export interface Series {
  name: string;
  /** Name of a CSS variable. */
  color: "accent" | "ok" | "warn" | "bad" | "muted";
  /** One value for each time; null if unknown. */
  values: readonly (number | null)[];
  /** Draws a dashed line, so that color alone never tells two curves apart. */
  isDashed?: boolean;
  /** Fills the area down to zero. */
  isFilled?: boolean;
}

export interface ChartProps {
  label: string;
  /** Seconds since 1970, ascending. */
  times: readonly number[];
  series: readonly Series[];
  /** Formats a value. */
  format: (value: number) => string;
  /** Least value at the upper edge, so that small values look small; 1 if unset. */
  floor?: number;
  /** In pixels. */
  height?: number;
}

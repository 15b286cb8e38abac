/** A curve of a chart. */
export interface Series {
  name: string;
  /** A variable of the style sheet. */
  color: "accent" | "ok" | "warn" | "bad" | "muted";
  /** One for each time; null where there is none. */
  values: readonly (number | null)[];
  /** A dashed line, so that no curve is told by its colour alone. */
  isDashed?: boolean;
  /** Filled down to zero. */
  isFilled?: boolean;
}

export interface ChartProps {
  label: string;
  /** In seconds since 1970, ascending. */
  times: readonly number[];
  series: readonly Series[];
  /** A value as text. */
  format: (value: number) => string;
  /** The upper edge where all values are smaller, so that a little is not drawn as much; 1 without it. */
  floor?: number;
  /** In pixels. */
  height?: number;
}

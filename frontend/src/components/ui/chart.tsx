import { ChartLine, Table2 } from "lucide-react";
import { Suspense, lazy, useState } from "react";
import { formatTime } from "@/lib/format";
import { IconButton } from "./button";
import { t } from "./en";
import { Skeleton } from "./skeleton";

const ChartBody = lazy(() => import("./chart-body").then((module) => ({ default: module.ChartBody })));

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

const mostRows = 60;

/** Curves over time, loaded with their first use, with a table of the same values. */
export function Chart(props: ChartProps) {
  const { label, series, height = 200 } = props;
  const [isTable, setTable] = useState(false);
  return (
    <figure aria-label={label} className="grid gap-2">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
        {series.map((one) => (
          <span key={one.name} className="inline-flex items-center gap-1.5">
            <svg aria-hidden width="16" height="4" style={{ color: `var(--${one.color})` }}>
              <line x1="0" y1="2" x2="16" y2="2" stroke="currentColor" strokeWidth="2.5" strokeDasharray={one.isDashed ? "4 3" : undefined} />
            </svg>
            {one.name}
          </span>
        ))}
        <IconButton
          size="sm"
          className="ms-auto"
          icon={isTable ? ChartLine : Table2}
          label={isTable ? t("show-chart") : t("show-table")}
          onClick={() => setTable(!isTable)}
        />
      </figcaption>
      {isTable ? (
        <ChartTable {...props} />
      ) : (
        <Suspense fallback={<div style={{ height }}><Skeleton className="h-full" /></div>}>
          <ChartBody {...props} height={height} />
        </Suspense>
      )}
    </figure>
  );
}

/** The same values, the newest first, at most sixty rows of them. */
function ChartTable({ label, times, series, format, height = 200 }: ChartProps) {
  const step = Math.max(1, Math.ceil(times.length / mostRows));
  const rows = times.map((time, index) => ({ time, index })).filter(({ index }) => (times.length - 1 - index) % step === 0);
  return (
    <div role="region" aria-label={label} tabIndex={0} className="overflow-y-auto" style={{ height }}>
      <table className="w-full text-sm tabular-nums">
        <thead className="sticky top-0 bg-surface text-muted">
          <tr>
            <th scope="col" className="py-1 text-start font-medium">
              {t("time")}
            </th>
            {series.map((one) => (
              <th key={one.name} scope="col" className="py-1 text-end font-medium">
                {one.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.reverse().map(({ time, index }) => (
            <tr key={time}>
              <td className="py-0.5">{formatTime(new Date(time * 1_000))}</td>
              {series.map((one) => {
                const value = one.values[index];
                return (
                  <td key={one.name} className="py-0.5 text-end">
                    {value === null || value === undefined ? "–" : format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

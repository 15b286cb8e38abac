import { ChartLine, Table2 } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./button";
import type { ChartProps } from "./chart-props";
import { t } from "./en";
import { late } from "./late";
import { Skeleton } from "./skeleton";

const pending = ({ height }: { height: number }) => (
  <div style={{ height }}>
    <Skeleton className="h-full" />
  </div>
);
const ChartBody = late(async () => (await import("./chart-body")).ChartBody, { pending, isAhead: false });
const ChartTable = late(async () => (await import("./chart-table")).ChartTable, { pending });

/** Curves over time, loaded on first use, and a table of the same values. */
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
      {isTable ? <ChartTable {...props} height={height} /> : <ChartBody {...props} height={height} />}
    </figure>
  );
}

import { formatTime } from "@/lib/format";
import type { ChartProps } from "./chart-props";
import { t } from "./en";

const mostRows = 60;

/** The values of a chart as at most sixty rows, the newest first. */
export function ChartTable({ label, times, series, format, height }: ChartProps & { height: number }) {
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

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { formatClock } from "@/lib/format";
import { useMedia } from "@/lib/media";
import { usePreference } from "@/lib/preference";
import { theme } from "@/lib/theme";
import type { ChartProps } from "./chart-props";

/** The drawing. Other curves or another theme create it again; new values only update it. */
export function ChartBody({ times, series, format, floor = 1, height }: ChartProps & { height: number }) {
  const place = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<uPlot | null>(null);
  const [chosenTheme] = usePreference(theme);
  const isDark = useMedia("(prefers-color-scheme: dark)");
  const look = JSON.stringify(series.map(({ name, color, isDashed, isFilled }) => ({ name, color, isDashed, isFilled })));
  const formatRef = useRef(format);
  useEffect(() => {
    formatRef.current = format;
  }, [format]);

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(optionsOf(element, JSON.parse(look) as Look[], { height, floor }, (value) => formatRef.current(value)), [[]], element);
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    setPlot(made);
    return () => {
      observer.disconnect();
      made.destroy();
      setPlot(null);
    };
  }, [look, height, floor, chosenTheme, isDark]);

  // In a layout effect, because a later update would paint each second twice.
  useLayoutEffect(() => {
    plot?.setData([times as number[], ...series.map((one) => one.values as (number | null)[])]);
  }, [plot, times, series]);

  return <div ref={place} aria-hidden className="w-full min-w-0 overflow-hidden" style={{ height }} />;
}

type Look = Pick<ChartProps["series"][number], "name" | "color" | "isDashed" | "isFilled">;

function optionsOf(element: HTMLElement, looks: readonly Look[], { height, floor }: { height: number; floor: number }, format: (value: number) => string): uPlot.Options {
  const muted = colorOf(element, "muted");
  const line = colorOf(element, "line");
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const labelWidth = widestClock(font);
  const axis = { stroke: muted, font, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 26, 0, 0],
    cursor: { y: false, points: { size: 7 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, floor)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: labelWidth + labelGap,
        incrs: [...minuteSteps],
        values: (_, ticks) => ticks.map((tick) => formatClock(tick * 1_000, ticks)),
      },
      { ...axis, grid: { stroke: line, width: 1 }, size: 76, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      ...looks.map((look) => {
        const color = colorOf(element, look.color);
        return {
          label: look.name,
          stroke: color,
          width: 1.75,
          points: { show: false },
          ...(look.isDashed ? { dash: [6, 4] } : {}),
          ...(look.isFilled ? { fill: color.replace(/^rgb\(([^)]+)\)$/, "rgba($1, 0.12)") } : {}),
        };
      }),
    ],
  };
}

// At most one label per minute, because seconds need more room than they are worth.
const minuteSteps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 7_200].map((minutes) => 60 * minutes);
const labelGap = 16;

/** Returns the width of the longest label of the time axis in pixels: "12:58 AM" is twice as long as "0:58". */
function widestClock(font: string): number {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return 75;
  context.font = font;
  const moments = Array.from({ length: 24 }, (_, hour) => new Date(2_026, 11, 28, hour, 58).getTime());
  return Math.max(...[3_600, 86_400].flatMap((distance) => moments.map((at) => context.measureText(formatClock(at, [0, distance])).width)));
}

/** Returns the color of a CSS variable, because a canvas cannot use variables. */
function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

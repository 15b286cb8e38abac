import { Map as MapIcon, Table2 } from "lucide-react";
import { useId, useState } from "react";
import { IconButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import type { Schema } from "@/lib/api-client";
import { formatBytes, formatPercent } from "@/lib/format";
import { type Cell, type Run, kinds, runsOf } from "../cells";
import { t } from "../en";
import { SmallTable } from "./tables";

/** Shows which bytes of the file are buffered, and the read position. */
export function BufferMapCard({ stream: { item, map } }: { stream: Schema<"StreamDetail"> }) {
  const [isTable, setTable] = useState(false);
  const runs = runsOf(map.cells);
  const total = item.file.bytes;
  const part = total > 0 ? Math.min(1, item.position / total) : 0;
  const at = t("map-at", { percent: formatPercent(100 * part, 1), position: formatBytes(item.position), bytes: formatBytes(total) });
  if (runs.length === 0) {
    return (
      <Card title={t("map")}>
        <Notice tone="warn">{t("map-unknown")}</Notice>
      </Card>
    );
  }
  return (
    <Card
      title={t("map")}
      actions={
        <IconButton size="sm" icon={isTable ? MapIcon : Table2} label={isTable ? t("show-map") : t("show-table")} onClick={() => setTable(!isTable)} />
      }
    >
      <div className="grid gap-3">
        {isTable ? (
          <RunTable runs={runs} bytes={total} />
        ) : (
          <Strip runs={runs} part={part} label={t("map-label", { percent: formatPercent(100 * part, 1) })} />
        )}
        <p className="flex flex-wrap items-center gap-x-2 tabular-nums">
          <svg aria-hidden width="10" height="8" className="text-ink">
            <path d="M0 0h10l-5 8z" fill="currentColor" />
          </svg>
          <span className="text-muted">{t("map-position")}</span>
          {at}
        </p>
        <ul className="flex flex-wrap gap-x-5 gap-y-1.5 text-sm">
          {kinds.map((kind) => (
            <li key={kind} className="inline-flex items-center gap-2 tabular-nums">
              <Swatch kind={kind} />
              <span>{t(`cell.${kind}`)}</span>
              <span className="text-muted">{figureOf(kind, map)}</span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

function figureOf(kind: Cell, map: Schema<"BufferMap">): string {
  switch (kind) {
    case "m":
      return formatBytes(map.memoryBytes);
    case "d":
      return formatBytes(map.diskBytes);
    case "f":
      return t("articles", { count: map.inFlight });
    case "x":
      return t("articles", { count: map.missing });
    default:
      return "";
  }
}

const height = 44;

// Later layers cover earlier ones, which matters for runs narrower than a pixel.
const layers: readonly Cell[] = ["-", "d", "m", "f", "x"];

// Each kind has a height and a pattern of its own, so that it can be recognized without its color.
const looks: Record<Exclude<Cell, "-">, { top: number; color: string; pattern: "plain" | "lines" | "stripes" | "crosses" }> = {
  m: { top: 0, color: "text-accent", pattern: "plain" },
  d: { top: 22, color: "text-ok", pattern: "lines" },
  f: { top: 0, color: "text-warn", pattern: "stripes" },
  x: { top: 0, color: "text-bad", pattern: "crosses" },
};

/** The file from its first byte to its last, from left to right in every language like the timeline of a player. */
function Strip({ runs, part, label }: { runs: readonly Run[]; part: number; label: string }) {
  const id = useId();
  const x = `${100 * part}%`;
  return (
    <svg role="img" aria-label={label} width="100%" height={height + 10} className="block overflow-visible">
      <Patterns id={id} />
      <svg y="10" width="100%" height={height}>
        <rect width="100%" height={height} rx="6" className="fill-sunken stroke-line" />
        {[...runs].sort((a, b) => layers.indexOf(a.kind) - layers.indexOf(b.kind)).map((run) => (
          <RunMark key={run.from} id={id} run={run} />
        ))}
      </svg>
      <g className="text-ink">
        <line x1={x} x2={x} y1="4" y2={height + 10} stroke="currentColor" strokeWidth="1.5" />
        <svg x={x} className="overflow-visible">
          <path d="M-5 0h10l-5 8z" fill="currentColor" />
        </svg>
      </g>
    </svg>
  );
}

/** A run. Missing and in-flight articles get three pixels, because they would be invisible in a long file. */
function RunMark({ id, run }: { id: string; run: Run }) {
  if (run.kind === "-") return null;
  const { top, color, pattern } = looks[run.kind];
  const width = `max(${100 * (run.to - run.from)}%, ${run.kind === "x" || run.kind === "f" ? 3 : 1}px)`;
  return (
    <g className={color}>
      <rect x={`${100 * run.from}%`} y={top} height={height - top} style={{ width }} fill={pattern === "plain" ? "currentColor" : `url(#${id}-${pattern}-${run.kind})`} />
    </g>
  );
}

function Swatch({ kind }: { kind: Cell }) {
  const id = useId();
  if (kind === "-") {
    return (
      <svg aria-hidden width="16" height="16">
        <rect x="0.5" y="0.5" width="15" height="15" rx="3" className="fill-sunken stroke-line-strong" />
      </svg>
    );
  }
  const { top, color, pattern } = looks[kind];
  return (
    <svg aria-hidden width="16" height="16" className={color}>
      <Patterns id={id} />
      <rect y={top === 0 ? 0 : 8} width="16" height={top === 0 ? 16 : 8} fill={pattern === "plain" ? "currentColor" : `url(#${id}-${pattern}-${kind})`} />
    </svg>
  );
}

/** The patterns. No parent sets their color, so each sets its own. */
function Patterns({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={`${id}-lines-d`} width="4" height="4" patternUnits="userSpaceOnUse" className={looks.d.color}>
        <rect width="4" height="4" fill="currentColor" opacity="0.35" />
        <rect width="4" height="2" fill="currentColor" />
      </pattern>
      <pattern id={`${id}-stripes-f`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" className={looks.f.color}>
        <rect width="3" height="6" fill="currentColor" />
      </pattern>
      <pattern id={`${id}-crosses-x`} width="8" height="8" patternUnits="userSpaceOnUse" className={looks.x.color}>
        <rect width="8" height="8" fill="currentColor" opacity="0.3" />
        <path d="M0 0l8 8M8 0l-8 8" stroke="currentColor" strokeWidth="1.5" />
      </pattern>
    </defs>
  );
}

function RunTable({ runs, bytes }: { runs: readonly Run[]; bytes: number }) {
  return (
    <SmallTable
      label={t("map")}
      header={[{ name: t("map-state") }, { name: t("map-from"), isEnd: true }, { name: t("map-to"), isEnd: true }]}
      rows={runs.map((run) => ({
        key: String(run.from),
        cells: [t(`cell.${run.kind}`), placeOf(run.from, bytes), placeOf(run.to, bytes)],
      }))}
    />
  );
}

function placeOf(part: number, bytes: number): string {
  return `${formatPercent(100 * part, 1)} · ${formatBytes(part * bytes)}`;
}

import { ArrowDown, ArrowDownToLine, ArrowUp, ArrowUpToLine, Info, KeyRound, Pause, Play, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import type { To } from "react-router";
import { Badge, type Tone } from "@/components/ui/badge";
import { Icon } from "@/components/ui/icon";
import type { MenuItem } from "@/components/ui/menu-item";
import { type Column, type Selection, Table } from "@/components/ui/table";
import { TimelineStrip } from "@/components/ui/timeline";
import { categoryName } from "@/lib/category";
import { formatBytes, formatPercent } from "@/lib/format";
import { WindowLink } from "@/lib/url-param";
import { t } from "../en";
import { type QueueRow, type QueueSort, changeItem, lastPlace, priorities, removeItems } from "../api/queue";
import { stepLine } from "./step-words";

interface QueueTableProps {
  rows: readonly QueueRow[];
  total: number;
  sort: QueueSort;
  onSort: (sort: string) => void;
  selection: Selection;
  isLoading: boolean;
  onEnd: () => void;
  onDetails: (id: string) => void;
  /** Returns the address of the details of an item. */
  detailsOf: (id: string) => To;
  empty: ReactNode;
}

/** The table of the queue, with the actions on each item. */
export function QueueTable({ rows, total, sort, onSort, selection, isLoading, onEnd, onDetails, detailsOf, empty }: QueueTableProps) {
  const move = (row: QueueRow, position: number) => void changeItem(row.id, { position });
  const step = (row: QueueRow, places: number) => void changeItem(row.id, { step: places });

  function menu(row: QueueRow): MenuItem[] {
    const isPaused = row.state === "paused";
    return [
      { label: t("details"), icon: Info, onSelect: () => onDetails(row.id) },
      {
        label: t(isPaused ? "resume" : "pause"),
        icon: isPaused ? Play : Pause,
        onSelect: () => void changeItem(row.id, { paused: !isPaused }),
      },
      { label: t("to-top"), icon: ArrowUpToLine, startsGroup: true, onSelect: () => move(row, 0) },
      { label: t("up"), icon: ArrowUp, onSelect: () => step(row, -1) },
      { label: t("down"), icon: ArrowDown, onSelect: () => step(row, 1) },
      { label: t("to-bottom"), icon: ArrowDownToLine, onSelect: () => move(row, lastPlace) },
      ...priorities.map((word, at) => ({
        label: t("set-priority", { priority: t(word === "force" ? "priority-force-short" : `priority-${word}`) }),
        isChosen: row.priority === word,
        startsGroup: at === 0,
        onSelect: () => void changeItem(row.id, { priority: word }),
      })),
      { label: t("remove"), icon: Trash2, tone: "danger", startsGroup: true, onSelect: () => void removeItems({ ids: [row.id] }) },
    ];
  }

  return (
    <Table
      label={t("queue")}
      rows={rows}
      columns={columns(detailsOf)}
      rowKey={(row) => row.id}
      rowName={(row) => row.name}
      total={total}
      sort={sort === "size" ? "-size" : sort}
      onSort={(next) => onSort(next.replace(/^-/, "") === sort ? "position" : next.replace(/^-/, ""))}
      menu={menu}
      onOpen={(row) => onDetails(row.id)}
      keys={{
        K: { label: t("up"), run: (row) => step(row, -1) },
        J: { label: t("down"), run: (row) => step(row, 1) },
        t: { label: t("to-top"), run: (row) => move(row, 0) },
        b: { label: t("to-bottom"), run: (row) => move(row, lastPlace) },
        Delete: { label: t("remove"), run: (row) => void removeItems({ ids: [row.id] }) },
      }}
      selection={selection}
      onEnd={onEnd}
      isLoading={isLoading}
      empty={empty}
      rowRem={3.5}
    />
  );
}

function columns(detailsOf: QueueTableProps["detailsOf"]): Column<QueueRow>[] {
  return [
    { name: "name", header: t("name"), isSortable: true, card: "title", cell: (row) => <NameCell row={row} to={detailsOf(row.id)} /> },
    { name: "state", header: t("state"), width: "11rem", cell: (row) => <StateCell row={row} /> },
    { name: "size", header: t("size"), align: "end", width: "6.5rem", isSortable: true, cell: (row) => (row.bytes > 0 ? formatBytes(row.bytes) : "") },
  ];
}

function NameCell({ row, to }: { row: QueueRow; to: To }) {
  const line = [categoryName(row.category), row.sentence ?? stepLine(row.steps)].filter((part) => part !== "").join(" · ");
  return (
    <span className="block min-w-0">
      <span className="flex min-w-0 items-center gap-1.5">
        <WindowLink to={to} className="truncate leading-6 font-medium touch:-my-2.5 touch:leading-11" title={row.name}>
          {row.name}
        </WindowLink>
        {row.hasPassword && (
          <span title={t("has-password")} className="text-muted">
            <Icon of={KeyRound} size={13} />
            <span className="sr-only">{t("has-password")}</span>
          </span>
        )}
        {row.priority !== "normal" && <Badge tone={row.priority === "low" ? "neutral" : "accent"}>{t(row.priority === "force" ? "priority-force-short" : `priority-${row.priority}`)}</Badge>}
      </span>
      {line !== "" && (
        <span className="hidden truncate text-sm font-normal text-muted tabular-nums sm:block" title={line}>
          {line}
        </span>
      )}
    </span>
  );
}

const tones: Record<QueueRow["state"], Tone> = { queued: "neutral", fetching: "accent", running: "accent", waiting: "warn", paused: "neutral" };

function StateCell({ row }: { row: QueueRow }) {
  if (row.state !== "running") return <Badge tone={tones[row.state]}>{t(`state-${row.state}`)}</Badge>;
  return (
    <span className="grid gap-1.5">
      <span className="flex justify-between gap-2 tabular-nums">
        <span className="truncate">{t("state-running")}</span>
        <span>{formatPercent(row.percent)}</span>
      </span>
      <span className="hidden sm:block">
        <TimelineStrip states={row.steps.map((step) => step.state)} />
      </span>
    </span>
  );
}

import { CircleCheck, CircleX, FileX, FolderOpen, Info, RotateCcw, ScrollText, Trash2, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { type To, useNavigate } from "react-router";
import { Button } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import type { MenuItem } from "@/components/ui/menu-item";
import { type Column, type Selection, Table } from "@/components/ui/table";
import { categoryName } from "@/lib/category";
import { formatAgo, formatBytes, formatDateTime, formatPercent } from "@/lib/format";
import { WindowLink } from "@/lib/url-param";
import { t } from "../en";
import { type HistoryRow, type HistorySort, filesPath, removeFiles, removeItems, retryItem } from "../api/history";
import { explain, wantsPassword } from "../api/reasons";
import { otherTryItems } from "./other-tries";

interface HistoryTableProps {
  rows: readonly HistoryRow[];
  total: number;
  sort: HistorySort;
  onSort: (sort: HistorySort) => void;
  selection: Selection;
  isLoading: boolean;
  onEnd: () => void;
  onDetails: (id: string) => void;
  /** Returns the address of the details of an import. */
  detailsOf: (id: string) => To;
  /** Called to remove an import with its files. */
  onDelete: (row: HistoryRow) => void;
  empty: ReactNode;
}

/** The table of ended imports, with the actions on each. */
export function HistoryTable({ rows, total, sort, onSort, selection, isLoading, onEnd, onDetails, detailsOf, onDelete, empty }: HistoryTableProps) {
  const navigate = useNavigate();
  const showQueue = () => void navigate("/queue");

  function retry(row: HistoryRow) {
    if (wantsPassword(row.reason)) onDetails(row.id);
    else if (row.canRetry) void retryItem(row, {}, showQueue);
  }

  function menu(row: HistoryRow): MenuItem[] {
    const { path } = row;
    return [
      { label: t("details"), icon: Info, onSelect: () => onDetails(row.id) },
      ...(path === null ? [] : [{ label: t("open-files"), icon: FolderOpen, onSelect: () => void navigate(filesPath(path)) }]),
      ...(row.canRetry && row.result === "failed" ? [{ label: t("retry"), icon: RotateCcw, onSelect: () => retry(row) }, ...otherTryItems(row, undefined, showQueue)] : []),
      { label: t("logs"), icon: ScrollText, onSelect: () => void navigate(`/logs?job=${encodeURIComponent(row.id)}`) },
      { label: t("remove"), icon: Trash2, tone: "danger", startsGroup: true, onSelect: () => void removeItems({ ids: [row.id] }) },
      ...(path === null ? [] : [{ label: t("remove-with-files"), icon: FileX, tone: "danger" as const, onSelect: () => onDelete(row) }]),
    ];
  }

  return (
    <Table
      label={t("history")}
      rows={rows}
      columns={columns(detailsOf)}
      rowKey={(row) => row.id}
      rowName={(row) => row.name}
      total={total}
      sort={sort === "newest" ? "-ended" : sort === "oldest" ? "ended" : sort === "size" ? "-size" : "name"}
      onSort={(next) => onSort(next === "ended" ? "oldest" : next === "-ended" ? "newest" : next.endsWith("size") ? "size" : "name")}
      menu={menu}
      onOpen={(row) => onDetails(row.id)}
      keys={{ r: { label: t("retry"), run: retry }, Delete: { label: t("remove"), run: (row) => void removeItems({ ids: [row.id] }) } }}
      selection={selection}
      onEnd={onEnd}
      isLoading={isLoading}
      empty={empty}
      rowRem={3.5}
    />
  );
}

function columns(detailsOf: HistoryTableProps["detailsOf"]): Column<HistoryRow>[] {
  return [
    { name: "name", header: t("name"), isSortable: true, card: "title", cell: (row) => <NameCell row={row} to={detailsOf(row.id)} /> },
    { name: "reason", header: t("result"), width: "15rem", cell: (row) => <ResultCell row={row} /> },
    { name: "size", header: t("size"), align: "end", width: "6.5rem", isSortable: true, cell: (row) => (row.bytes > 0 ? formatBytes(row.bytes) : "") },
    {
      name: "ended",
      header: t("ended"),
      align: "end",
      width: "9rem",
      isSortable: true,
      cell: (row) => (
        <time dateTime={row.completedAt} title={formatDateTime(row.completedAt)}>
          {formatAgo(row.completedAt)}
        </time>
      ),
    },
  ];
}

function NameCell({ row, to }: { row: HistoryRow; to: To }) {
  const line = [categoryName(row.category), row.inNoLibrary ? t("in-no-library") : "", row.sentence ?? ""].filter((part) => part !== "").join(" · ");
  return (
    <span className="block min-w-0">
      <WindowLink to={to} className="block truncate leading-6 font-medium touch:-my-2.5 touch:leading-11" title={row.name}>
        {row.name}
      </WindowLink>
      <span className="hidden truncate text-sm font-normal text-muted sm:block" title={line}>
        {line}
      </span>
    </span>
  );
}

function ResultCell({ row }: { row: HistoryRow }) {
  if (row.inNoLibrary) {
    return (
      <Button size="sm" icon={FileX} title={t("in-no-library-help")} onClick={() => void removeFiles({ ids: [row.id] })}>
        {t("remove-files")}
      </Button>
    );
  }
  const isGood = row.result === "completed";
  const share = row.missingShare;
  const gaps = share === null ? null : t("with-gaps-share", { percent: formatPercent(100 * share, share < 0.1 ? 1 : 0) });
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <Icon of={gaps ? TriangleAlert : isGood ? CircleCheck : CircleX} size={16} className={gaps ? "text-warn" : isGood ? "text-ok" : "text-bad"} />
      <span className="truncate" title={gaps ?? undefined}>
        {gaps ?? (row.reason ? explain(row.reason).title : t(`result-${row.result}`))}
      </span>
    </span>
  );
}

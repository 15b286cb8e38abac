import { CalendarX, FolderOpen, ReceiptText } from "lucide-react";
import { useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button, ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { LoadFailure } from "@/components/ui/load-failure";
import { SelectField } from "@/components/ui/select-field";
import { Skeleton } from "@/components/ui/skeleton";
import { type Column, Table } from "@/components/ui/table";
import { filmName, filmPart } from "@/lib/film";
import { formatAgo, formatBytes, formatDateTime } from "@/lib/format";
import { dateFormat } from "@/lib/i18n/intl";
import { useListUrl } from "@/lib/list-url";
import { usePageTitle } from "@/lib/page-title";
import { playedName } from "@/lib/played-name";
import { t } from "./en";
import { type ReceiptRow, type ReceiptSumRow, useReceipts, useSums } from "./api/receipts";
import { ReceiptSheet, troubleOf } from "./receipt-sheet";

/** What playbacks and library scans used, with sums by provider and month. */
export function ReceiptsPage() {
  usePageTitle(t("receipts"));
  const url = useListUrl({ filters: ["month"], sort: "" });
  const month = url.filters.month ?? "";
  const list = useReceipts(month);
  const providers = useSums("provider", month);
  const months = useSums("month", "");
  const [openId, setOpen] = useState<string | null>(null);
  const open = list.rows.find(({ id }) => id === openId);
  const known = [...new Set([...(months ?? []).map(({ key }) => key), ...(month === "" ? [] : [month])])];

  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
        <p className="min-w-0 flex-1 basis-64 text-sm text-muted text-pretty">{t("help")}</p>
        <SelectField
          label={t("month")}
          value={month}
          options={[{ value: "", label: t("all-months") }, ...known.map((key) => ({ value: key, label: monthName(key) }))]}
          onChange={(value) => url.setFilter("month", value)}
          className="w-52"
        />
      </div>
      {list.problem && list.rows.length > 0 && <LoadFailure isLine problem={list.problem} onRetry={list.refetch} />}
      {list.total > 0 && (
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <Sums title={t("by-provider")} rows={providers} nameOf={({ name }) => name ?? t("removed-provider")} />
          <Sums title={t("by-month")} rows={months} nameOf={({ key }) => monthName(key)} />
        </div>
      )}
      <Card isFlush title={list.total > 0 ? t("count", { count: list.total }) : undefined}>
        {list.problem && list.rows.length === 0 ? (
          <LoadFailure problem={list.problem} onRetry={list.refetch} />
        ) : (
          <Table
            label={t("receipts")}
            rows={list.rows}
            columns={columns}
            rowKey={(row) => row.id}
            rowName={whatOf}
            total={list.total}
            onOpen={(row) => setOpen(row.id)}
            onEnd={list.loadMore}
            isLoading={list.isLoading}
            empty={
              month === "" ? (
                <EmptyState icon={ReceiptText} title={t("empty")} actions={<ButtonLink icon={FolderOpen} to="/files">{t("to-files")}</ButtonLink>}>
                  {t("empty-help")}
                </EmptyState>
              ) : (
                <EmptyState icon={CalendarX} title={t("none-in-month")} actions={<Button onClick={url.clear}>{t("show-all")}</Button>}>
                  {null}
                </EmptyState>
              )
            }
            rowRem={3.5}
          />
        )}
      </Card>
      {open && <ReceiptSheet row={open} title={titleOf(open)} onClose={() => setOpen(null)} />}
    </div>
  );
}

/** Sums as bars, each relative to the largest. */
function Sums({ title, rows, nameOf }: { title: string; rows: readonly ReceiptSumRow[] | undefined; nameOf: (row: ReceiptSumRow) => string }) {
  const most = Math.max(1, ...(rows ?? []).map(totalOf));
  return (
    <Card title={title}>
      {rows === undefined ? (
        <Skeleton className="h-12" />
      ) : rows.length === 0 ? (
        <p className="text-muted">{t("no-sums")}</p>
      ) : (
        <ul className="grid max-h-72 gap-3 overflow-y-auto">
          {rows.map((row) => (
            <li key={row.key} className="grid gap-1">
              <p className="flex flex-wrap gap-x-3">
                <span className="min-w-0 flex-1 basis-32 truncate font-medium">{nameOf(row)}</span>
                <span className="tabular-nums">{formatBytes(totalOf(row))}</span>
              </p>
              <span aria-hidden className="block h-1.5 overflow-hidden rounded-full bg-sunken">
                <span className="block h-full rounded-full bg-accent-fill" style={{ width: `${(100 * totalOf(row)) / most}%` }} />
              </span>
              <p className="text-sm text-muted">
                {[t("playbacks", { count: row.playbacks }), ...(row.scanBytes > 0 ? [t("sum-scans", { bytes: formatBytes(row.scanBytes) })] : [])].join(" · ")}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const totalOf = (row: ReceiptSumRow) => row.playbackBytes + row.scanBytes;

function monthName(key: string): string {
  const [year = 1970, month = 1] = key.split("-").map(Number);
  return dateFormat({ month: "long", year: "numeric" }).format(new Date(year, month - 1, 1));
}

function whatOf(row: ReceiptRow): string {
  return row.file === null ? t("scan", { count: row.files }) : filmName(row.file.film, playedName(row.file).title);
}

/** Names the film with its year or episode. */
function titleOf(row: ReceiptRow): string {
  return [whatOf(row), row.file === null ? "" : filmPart(row.file.film)].filter((part) => part !== "").join(" · ");
}

function whoOf({ player, client }: ReceiptRow): string {
  const name = player === "" ? t("unknown-player") : player;
  return client === "" ? name : t("client", { player: name, address: client });
}

const columns: Column<ReceiptRow>[] = [
  {
    name: "what",
    header: t("what"),
    card: "title",
    cell: (row) => (
      <span className="block min-w-0">
        <span className="flex min-w-0 items-center gap-2">
          <span className="min-w-0 truncate font-medium" title={row.file?.path}>
            {whatOf(row)}
          </span>
          {row.file !== null && filmPart(row.file.film) !== "" && <span className="shrink-0 text-muted">{filmPart(row.file.film)}</span>}
          {row.open && <Badge tone="ok">{t("playing-now")}</Badge>}
        </span>
        <span className="hidden truncate text-sm font-normal text-muted sm:block">{whoOf(row)}</span>
      </span>
    ),
  },
  {
    name: "when",
    header: t("when"),
    width: "9rem",
    cell: (row) => (
      <time dateTime={row.startedAt} title={formatDateTime(row.startedAt)}>
        {formatAgo(row.startedAt)}
      </time>
    ),
  },
  { name: "sent", header: t("sent"), align: "end", width: "7rem", card: "none", cell: (row) => formatBytes(row.bytesSent) },
  { name: "fetched", header: t("fetched"), align: "end", width: "8rem", cell: (row) => formatBytes(row.bytesFromProviders) },
  {
    name: "trouble",
    header: t("trouble"),
    width: "14rem",
    card: "none",
    cell: (row) => <span className={row.gaps > 0 || row.waits > 0 ? "text-warn" : "text-muted"}>{troubleOf(row)}</span>,
  },
];

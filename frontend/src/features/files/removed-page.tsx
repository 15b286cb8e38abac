import { FolderOpen, SearchX, Undo2 } from "lucide-react";
import { useState } from "react";
import { Button, ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { FilterBar } from "@/components/ui/filter-bar";
import { LoadFailure } from "@/components/ui/load-failure";
import { SearchField } from "@/components/ui/search-field";
import { SelectionBar } from "@/components/ui/selection-bar";
import { type Column, Table } from "@/components/ui/table";
import { categoryName } from "@/lib/category";
import { filmName, filmPart } from "@/lib/film";
import { formatAgo, formatBytes, formatDateTime } from "@/lib/format";
import { useListUrl } from "@/lib/list-url";
import { usePageTitle } from "@/lib/page-title";
import { t } from "./en";
import { type RemovedRow, useRemovedList, useRestore } from "./api/removed";
import { Breadcrumb } from "./components/breadcrumb";

/** Removed files, which can be brought back for a week. */
export function RemovedPage() {
  usePageTitle(t("removed"));
  const url = useListUrl({ filters: ["q"], sort: "" });
  const q = url.filters.q ?? "";
  const list = useRemovedList(q);
  const restore = useRestore();
  const [state, setTicked] = useState<ReadonlySet<string>>(new Set());
  const ticked = list.rows.flatMap(({ id }) => (state.has(id) ? [id] : []));
  const clear = () => setTicked(new Set());

  return (
    <div className="grid gap-4">
      <FilterBar search={<SearchField label={t("search-removed")} value={q} onChange={(value) => url.setFilter("q", value)} />} count={0} onClear={url.clear} filters={null} />
      <div className="grid gap-1">
        <Breadcrumb path={t("removed")} />
        <p className="text-sm text-muted">{t("removed-help")}</p>
      </div>
      {list.problem && list.rows.length > 0 && <LoadFailure isLine problem={list.problem} onRetry={list.refetch} />}
      <Card isFlush>
        {list.problem && list.rows.length === 0 ? (
          <LoadFailure problem={list.problem} onRetry={list.refetch} />
        ) : (
          <Table
            label={t("removed")}
            rows={list.rows}
            columns={columns}
            rowKey={(row) => row.id}
            rowName={nameOf}
            total={list.total}
            menu={(row) => [{ label: t("restore"), icon: Undo2, onSelect: () => void restore([row.id]) }]}
            keys={{ b: { label: t("restore"), run: (row) => void restore([row.id]) } }}
            selection={{ ids: new Set(ticked), onChange: setTicked }}
            onEnd={list.loadMore}
            isLoading={list.isLoading}
            empty={
              q === "" ? (
                <EmptyState icon={FolderOpen} title={t("removed-empty")} actions={<ButtonLink to="/files">{t("to-library")}</ButtonLink>}>
                  {t("removed-empty-help")}
                </EmptyState>
              ) : (
                <EmptyState icon={SearchX} title={t("nothing-found")} actions={<Button onClick={url.clear}>{t("clear-search")}</Button>}>
                  {t("nothing-found-help")}
                </EmptyState>
              )
            }
            rowRem={3.5}
          />
        )}
      </Card>
      <SelectionBar
        count={ticked.length}
        total={list.rows.length}
        isAll={false}
        onAll={() => setTicked(new Set(list.rows.map(({ id }) => id)))}
        onClear={clear}
      >
        <Button
          icon={Undo2}
          onClick={() => {
            void restore(ticked);
            clear();
          }}
        >
          {t("restore")}
        </Button>
      </SelectionBar>
    </div>
  );
}

const nameOf = (row: RemovedRow) => row.path ?? filmName(row.film, row.name);

const columns: Column<RemovedRow>[] = [
  {
    name: "name",
    header: t("name"),
    card: "title",
    cell: (row) => (
      <span className="block min-w-0">
        <span className="block truncate font-medium" title={row.name}>
          {nameOf(row)}
          {row.path === null && filmPart(row.film) !== "" && <span className="ms-2 font-normal text-muted">{filmPart(row.film)}</span>}
        </span>
        <span className="hidden truncate text-sm font-normal text-muted sm:block">
          {[categoryName(row.category), row.name, row.files > 1 ? t("file-count", { count: row.files }) : ""].filter((part) => part !== "").join(" · ")}
        </span>
      </span>
    ),
  },
  { name: "size", header: t("size"), align: "end", width: "7rem", cell: (row) => formatBytes(row.bytes) },
  { name: "removed", header: t("removed-at"), align: "end", width: "9rem", card: "none", cell: (row) => <Moment at={row.removedAt} /> },
  {
    name: "until",
    header: t("deleted-at"),
    align: "end",
    width: "10rem",
    cell: (row) => (
      <>
        {/* A card has no headers. */}
        <span className="sm:hidden">{t("deleted-in", { time: formatAgo(row.until) })}</span>
        <span className="max-sm:hidden">
          <Moment at={row.until} />
        </span>
      </>
    ),
  },
];

function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatAgo(at)}
    </time>
  );
}

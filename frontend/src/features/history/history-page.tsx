import { useQuery } from "@tanstack/react-query";
import { Download, FileJson, FileX, History, RotateCcw, SearchX, Sheet, Trash2 } from "lucide-react";
import { useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { Button, ButtonLink } from "@/components/ui/button";
import type { DeleteChoice } from "@/components/ui/delete-dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { late } from "@/components/ui/late";
import { ListFrame, choicesOf } from "@/components/ui/list-frame";
import { Menu } from "@/components/ui/menu";
import { useListUrl } from "@/lib/list-url";
import { filmName } from "@/lib/film";
import { usePageTitle } from "@/lib/page-title";
import { useSelection } from "@/lib/selection";
import { openWindow, useCloseWindow } from "@/lib/url-param";
import { t } from "./en";
import { exportRows } from "./api/export";
import { type HistoryFilter, type HistoryTarget, categoriesQuery, historySorts, removeFiles, removeItems, results, retryItems, useHistory } from "./api/history";
import { explain, reasons } from "./api/reasons";
import { HistoryTable } from "./components/history-table";

// Value of the result filter for completed imports that Sonarr and Radarr deleted without taking their files.
const noLibrary = "in-no-library";
const gaps = "with-gaps";

const DeleteDialog = late(async () => (await import("@/components/ui/delete-dialog")).DeleteDialog, { isAhead: false });
const HistorySheet = late(async () => (await import("./components/history-sheet")).HistorySheet, { isAhead: false });

/** The page of ended imports. `id` is the open one, at an address of its own. */
export function HistoryPage({ id }: { id: string | undefined }) {
  usePageTitle(t("history"));
  const navigate = useNavigate();
  const { search } = useLocation();
  const url = useListUrl({ filters: ["q", "result", "reason", "category"], sort: "newest" });
  const { q, category } = url.filters;
  const result = results.find((word) => word === url.filters.result);
  const inNoLibrary = url.filters.result === noLibrary;
  const withGaps = url.filters.result === gaps;
  const reason = reasons.find((word) => word === url.filters.reason);
  const filter: HistoryFilter = { ...(q ? { q } : {}), ...(category ? { category } : {}), ...(result ? { result } : {}), ...(reason ? { reason } : {}), ...(inNoLibrary ? { inNoLibrary } : {}), ...(withGaps ? { withGaps } : {}) };
  const sort = historySorts.find((word) => word === url.sort) ?? "newest";
  const list = useHistory(filter, sort);
  const selection = useSelection(list.rows, list.total, filter);
  const { data: known = [] } = useQuery(categoriesQuery);
  const categories = [...new Set([...known, ...(category ? [category] : [])])];
  const close = useCloseWindow({ pathname: "/history", search });
  const detailsOf = (next: string) => ({ pathname: `/history/${encodeURIComponent(next)}`, search });
  const showQueue = () => void navigate("/queue");
  const [deleted, setDeleted] = useState<{ choice: DeleteChoice; title: string } | null>(null);

  return (
    <div className="grid gap-4">
      <ListFrame
        search={{ label: t("search"), value: q ?? "", onChange: (value) => url.setFilter("q", value) }}
        filters={[
          {
            label: t("result"),
            value: inNoLibrary ? noLibrary : withGaps ? gaps : (result ?? ""),
            options: [
              { value: "", label: t("all-results") },
              ...results.map((word) => ({ value: word, label: t(`result-${word}`) })),
              { value: gaps, label: t("with-gaps") },
              { value: noLibrary, label: t("in-no-library") },
            ],
            onChange: (value) => url.setFilter("result", value),
          },
          {
            label: t("reason"),
            value: reason ?? "",
            options: [{ value: "", label: t("all-reasons") }, ...reasons.map((word) => ({ value: word, label: explain(word).title }))],
            onChange: (value) => url.setFilter("reason", value),
          },
          { label: t("category"), value: category ?? "", options: choicesOf(t("all-categories"), categories), onChange: (value) => url.setFilter("category", value) },
        ]}
        sort={{ label: t("sort"), value: sort, options: historySorts.map((word) => ({ value: word, label: t(`sort-${word}`) })), onChange: url.setSort }}
        onClear={url.clear}
        actions={
          <Menu
            label={t("export")}
            items={[
              { label: t("export-csv"), icon: Sheet, isDisabled: list.rows.length === 0, onSelect: () => exportRows(list.rows, "csv") },
              { label: t("export-json"), icon: FileJson, isDisabled: list.rows.length === 0, onSelect: () => exportRows(list.rows, "json") },
            ]}
            trigger={(wiring) => (
              <Button icon={Download} aria-label={t("export")} {...wiring}>
                <span className="max-sm:sr-only">{t("export")}</span>
              </Button>
            )}
          />
        }
        list={list}
        title={t("count", { count: list.total })}
        titleActions={
          inNoLibrary && list.total > 0 ? (
            <Button size="sm" icon={FileX} onClick={() => void removeFiles({ filter })}>
              {t("remove-matching-files")}
            </Button>
          ) : (result === "failed" || reason) && list.total > 0 ? (
            <Button size="sm" icon={RotateCcw} onClick={() => void retryItems({ filter }, showQueue)}>
              {t("retry-matching")}
            </Button>
          ) : undefined
        }
        table={
          <HistoryTable
            rows={list.rows}
            total={list.total}
            sort={sort}
            onSort={url.setSort}
            selection={{ ids: selection.ids, onChange: selection.set }}
            isLoading={list.isLoading}
            onEnd={list.loadMore}
            onDetails={(next) => openWindow(navigate, detailsOf(next))}
            detailsOf={detailsOf}
            onDelete={(row) => setDeleted({ choice: choiceOf({ ids: [row.id] }), title: t("delete-name", { name: filmName(row.film, row.name) }) })}
            empty={<Empty isFiltered={url.isFiltered} onClear={url.clear} />}
          />
        }
        selection={selection}
        bulk={
          <>
            <Button
              icon={RotateCcw}
              onClick={() => {
                void retryItems(selection.target, showQueue);
                selection.clear();
              }}
            >
              {t("retry")}
            </Button>
            <Button
              tone="danger"
              icon={Trash2}
              onClick={() => {
                void removeItems(selection.target);
                selection.clear();
              }}
            >
              {t("remove")}
            </Button>
            <Button
              tone="danger"
              icon={FileX}
              onClick={() => setDeleted({ choice: choiceOf(selection.target), title: t("delete-count", { count: selection.count }) })}
            >
              {t("remove-with-files")}
            </Button>
          </>
        }
      />
      {deleted && <DeleteDialog {...deleted} action={t("remove-with-files")} onClose={() => setDeleted(null)} onDone={selection.clear} />}
      {id !== undefined && <HistorySheet id={id} onClose={close} />}
    </div>
  );
}

/** Returns imports together with their files. */
function choiceOf(target: HistoryTarget): DeleteChoice {
  const none = { q: null, category: null, result: null, reason: null, inNoLibrary: null, withGaps: null };
  return { history: "ids" in target ? { ids: target.ids, filter: null } : { ids: null, filter: { ...none, ...target.filter } } };
}

function Empty({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered) {
    return (
      <EmptyState icon={SearchX} title={t("nothing-matches")} actions={<Button onClick={onClear}>{t("clear-filters")}</Button>}>
        {t("nothing-matches-help")}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={History} title={t("empty")} actions={<ButtonLink to="/queue">{t("to-queue")}</ButtonLink>}>
      {t("empty-help")}
    </EmptyState>
  );
}

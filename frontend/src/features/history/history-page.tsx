import { useQuery } from "@tanstack/react-query";
import { Download, FileJson, History, RotateCcw, SearchX, Sheet, Trash2 } from "lucide-react";
import { Suspense, lazy } from "react";
import { useLocation, useNavigate } from "react-router";
import { Button, ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { FilterBar } from "@/components/ui/filter-bar";
import { LoadFailure } from "@/components/ui/load-failure";
import { Menu } from "@/components/ui/menu";
import { SearchField } from "@/components/ui/search-field";
import { SelectField } from "@/components/ui/select-field";
import { SelectionBar } from "@/components/ui/selection-bar";
import { useListUrl } from "@/lib/list-url";
import { usePageTitle } from "@/lib/page-title";
import { useSelection } from "@/lib/selection";
import { openWindow, useCloseWindow } from "@/lib/url-param";
import { t } from "./en";
import { exportRows } from "./api/export";
import { type HistoryFilter, categoriesQuery, historySorts, removeItems, results, retryItems, useHistory } from "./api/history";
import { explain, reasons } from "./api/reasons";
import { HistoryTable } from "./components/history-table";

const HistorySheet = lazy(() => import("./components/history-sheet").then((module) => ({ default: module.HistorySheet })));

/** Imports that have ended. `id` is the one that is opened, by an address of its own. */
export function HistoryPage({ id }: { id: string | undefined }) {
  usePageTitle(t("history"));
  const navigate = useNavigate();
  const { search } = useLocation();
  const url = useListUrl({ filters: ["q", "result", "reason", "category"], sort: "newest" });
  const { q, category } = url.filters;
  const result = results.find((word) => word === url.filters.result);
  const reason = reasons.find((word) => word === url.filters.reason);
  const filter: HistoryFilter = { ...(q ? { q } : {}), ...(category ? { category } : {}), ...(result ? { result } : {}), ...(reason ? { reason } : {}) };
  const sort = historySorts.find((word) => word === url.sort) ?? "newest";
  const list = useHistory(filter, sort);
  const selection = useSelection(list.rows, list.total, filter);
  const { data: known = [] } = useQuery(categoriesQuery);
  const categories = [...new Set([...known, ...(category ? [category] : [])])];
  const close = useCloseWindow({ pathname: "/history", search });
  const showQueue = () => void navigate("/queue");

  return (
    <div className="grid gap-4">
      <FilterBar
        search={<SearchField label={t("search")} value={q ?? ""} onChange={(value) => url.setFilter("q", value)} />}
        count={[category, result, reason].filter(Boolean).length}
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
        filters={
          <>
            <SelectField
              label={t("result")}
              isLabelHidden
              value={result ?? ""}
              options={[{ value: "", label: t("all-results") }, ...results.map((word) => ({ value: word, label: t(`result-${word}`) }))]}
              onChange={(value) => url.setFilter("result", value)}
            />
            <SelectField
              label={t("reason")}
              isLabelHidden
              value={reason ?? ""}
              options={[{ value: "", label: t("all-reasons") }, ...reasons.map((word) => ({ value: word, label: explain(word).title }))]}
              onChange={(value) => url.setFilter("reason", value)}
            />
            <SelectField
              label={t("category")}
              isLabelHidden
              value={category ?? ""}
              options={[{ value: "", label: t("all-categories") }, ...categories.map((name) => ({ value: name, label: name }))]}
              onChange={(value) => url.setFilter("category", value)}
            />
            <SelectField
              label={t("sort")}
              isLabelHidden
              value={sort}
              options={historySorts.map((word) => ({ value: word, label: t(`sort-${word}`) }))}
              onChange={url.setSort}
            />
          </>
        }
      />
      {list.problem && list.rows.length > 0 && <LoadFailure isLine problem={list.problem} onRetry={list.refetch} />}
      <Card
        isFlush
        title={list.isLoading || list.total === 0 ? undefined : t("count", { count: list.total })}
        actions={
          (result === "failed" || reason) && list.total > 0 ? (
            <Button size="sm" icon={RotateCcw} onClick={() => void retryItems({ filter }, showQueue)}>
              {t("retry-matching")}
            </Button>
          ) : undefined
        }
      >
        {list.problem && list.rows.length === 0 ? (
          <LoadFailure problem={list.problem} onRetry={list.refetch} />
        ) : (
          <HistoryTable
            rows={list.rows}
            total={list.total}
            sort={sort}
            onSort={url.setSort}
            selection={{ ids: selection.ids, onChange: selection.set }}
            isLoading={list.isLoading}
            onEnd={list.loadMore}
            onDetails={(next) => openWindow(navigate, { pathname: `/history/${encodeURIComponent(next)}`, search })}
            empty={<Empty isFiltered={url.isFiltered} onClear={url.clear} />}
          />
        )}
      </Card>
      <SelectionBar count={selection.count} total={list.total} isAll={selection.isAll} onAll={selection.selectAll} onClear={selection.clear}>
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
      </SelectionBar>
      <Suspense fallback={null}>{id !== undefined && <HistorySheet id={id} onClose={close} />}</Suspense>
    </div>
  );
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

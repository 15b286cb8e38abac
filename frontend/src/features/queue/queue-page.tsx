import { useQuery } from "@tanstack/react-query";
import { Inbox, SearchX } from "lucide-react";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { late } from "@/components/ui/late";
import { ListFrame, choicesOf } from "@/components/ui/list-frame";
import { Notice } from "@/components/ui/notice";
import { api, dataOf } from "@/lib/api-client";
import { formatDateTime } from "@/lib/format";
import { useListUrl } from "@/lib/list-url";
import { usePageTitle } from "@/lib/page-title";
import { useSelection } from "@/lib/selection";
import { useWindowParam } from "@/lib/url-param";
import { t } from "./en";
import { type QueueFilter, jobStates, queueSorts, useQueue } from "./api/queue";
import { AddPanel } from "./components/add-panel";
import { BulkActions } from "./components/bulk-actions";
import { PauseControl } from "./components/pause-control";
import { QueueTable } from "./components/queue-table";

const ItemSheet = late(async () => (await import("./components/item-sheet")).ItemSheet, { isAhead: false });

/** The page of running and waiting imports. */
export function QueuePage() {
  usePageTitle(t("queue"));
  const url = useListUrl({ filters: ["q", "state", "category"], sort: "position" });
  const { q, category } = url.filters;
  const state = jobStates.find((word) => word === url.filters.state);
  const filter: QueueFilter = { ...(q ? { q } : {}), ...(category ? { category } : {}), ...(state ? { state } : {}) };
  const sort = queueSorts.find((word) => word === url.sort) ?? "position";
  const list = useQueue(filter, sort);
  const selection = useSelection(list.rows, list.total, filter);
  const item = useWindowParam("item");
  const categories = list.first?.categories ?? [];
  const isPaused = list.first?.paused ?? false;
  const chosen = item.value === null ? undefined : list.rows.find((row) => row.id === item.value);

  return (
    <div className="grid gap-4">
      <AddPanel categories={categories} />
      {isPaused && <PausedNotice until={list.first?.pausedUntil ?? null} />}
      <ProviderNotice isWaiting={list.rows.some((row) => row.state === "waiting")} />
      <ListFrame
        search={{ label: t("search"), value: q ?? "", onChange: (value) => url.setFilter("q", value) }}
        filters={[
          {
            label: t("state"),
            value: state ?? "",
            options: [{ value: "", label: t("all-states") }, ...jobStates.map((word) => ({ value: word, label: t(`state-${word}`) }))],
            onChange: (value) => url.setFilter("state", value),
          },
          {
            label: t("category"),
            value: category ?? "",
            options: choicesOf(t("all-categories"), [...new Set([...categories, ...(category ? [category] : [])])]),
            onChange: (value) => url.setFilter("category", value),
          },
        ]}
        sort={{ label: t("sort"), value: sort, options: queueSorts.map((word) => ({ value: word, label: t(`sort-${word}`) })), onChange: url.setSort }}
        onClear={url.clear}
        actions={<PauseControl isPaused={isPaused} />}
        list={list}
        title={t("count", { count: list.total })}
        table={
          <QueueTable
            rows={list.rows}
            total={list.total}
            sort={sort}
            onSort={url.setSort}
            selection={{ ids: selection.ids, onChange: selection.set }}
            isLoading={list.isLoading}
            onEnd={list.loadMore}
            onDetails={item.open}
            detailsOf={item.to}
            empty={<Empty isFiltered={url.isFiltered} onClear={url.clear} />}
          />
        }
        selection={selection}
        bulk={<BulkActions target={selection.target} categories={categories} onDone={selection.clear} />}
      />
      {item.value !== null && (
        <ItemSheet
          id={item.value}
          row={chosen}
          isLoading={list.isLoading}
          categories={categories}
          onClose={item.close}
        />
      )}
    </div>
  );
}

function PausedNotice({ until }: { until: string | null }) {
  return <Notice tone="warn">{until === null ? t("paused") : t("paused-until", { time: formatDateTime(until) })}</Notice>;
}

/** Warns that there is no provider while items wait for one. */
function ProviderNotice({ isWaiting }: { isWaiting: boolean }) {
  const { data } = useQuery({
    queryKey: ["providers", "any"],
    queryFn: ({ signal }) => dataOf(api.GET("/api/providers", { signal })),
    enabled: isWaiting,
  });
  if (!isWaiting || !data || data.items.length > 0) return null;
  return (
    <Notice
      tone="warn"
      actions={
        <ButtonLink to="/settings/providers" tone="accent">
          {t("add-provider")}
        </ButtonLink>
      }
    >
      {t("no-provider")}
    </Notice>
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
    <EmptyState icon={Inbox} title={t("empty")} actions={<ButtonLink to="/settings/arr">{t("connect-app")}</ButtonLink>}>
      {t("empty-help")}
    </EmptyState>
  );
}

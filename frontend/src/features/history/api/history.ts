import { queryOptions } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { attempt } from "@/lib/attempt";
import { followJob } from "@/lib/followed-jobs";
import { offerUndo } from "@/lib/undo";
import { type ListRules, listChanged, useLiveList } from "@/lib/live-list";
import { saveUrl } from "@/lib/save-file";
import { toast } from "@/lib/toast";
import { urlOf } from "@/lib/url-base";
import { t } from "../en";
import type { OtherTry, Reason } from "./reasons";

export type HistoryRow = Schema<"HistoryRow">;
export type HistoryPage = Schema<"HistoryPage">;
export type HistoryDetail = Schema<"HistoryDetail">;
export type HistoryTarget = { ids: string[] } | { filter: HistoryFilter };

/** The orders of the list; each has a fixed direction. */
export const historySorts = ["newest", "oldest", "name", "size"] as const;
export type HistorySort = (typeof historySorts)[number];

export const results = ["completed", "failed"] as const satisfies readonly Schema<"JobResult">[];

/** The filter of the list; missing fields match everything. */
export interface HistoryFilter {
  q?: string;
  category?: string;
  result?: Schema<"JobResult">;
  reason?: Reason;
  /** Only imports whose files are in no library. */
  inNoLibrary?: boolean;
  /** Only imports that play with gaps. */
  withGaps?: boolean;
}

const pageRows = 200;

/** Loads the history under a filter and keeps it up to date. */
export function useHistory(filter: HistoryFilter, sort: HistorySort) {
  const { q, category, result, reason, inNoLibrary, withGaps } = filter;
  const key = useMemo(
    () => ["history", q ?? "", category ?? "", result ?? "", reason ?? "", inNoLibrary ? "in-no-library" : withGaps ? "with-gaps" : "", sort],
    [q, category, result, reason, inNoLibrary, withGaps, sort],
  );
  return useLiveList<HistoryRow, HistoryPage, "history">({
    key,
    topic: "history",
    load: (cursor, signal) => dataOf(api.GET("/api/history", { params: { query: { q, category, result, reason, inNoLibrary, withGaps, sort, cursor, limit: pageRows } }, signal })),
    rules: historyRules(filter, sort),
  });
}

/** Returns the decisions that the page makes about its filter and order without the server. */
export function historyRules({ q, category, result, reason, inNoLibrary, withGaps }: HistoryFilter, sort: HistorySort): ListRules<HistoryRow> {
  return {
    isFiltered: Boolean(q ?? category ?? result ?? reason ?? inNoLibrary ?? withGaps),
    belongs(row, before) {
      if (inNoLibrary && !row.inNoLibrary) return false;
      if (withGaps && row.missingShare === null) return false;
      if (result && row.result !== result) return false;
      if (reason && row.reason !== reason) return false;
      if (category && row.category.toLowerCase() !== category.toLowerCase()) return false;
      // Only the server compares words, so only an unchanged name is sure to match.
      return !q || before?.name === row.name ? true : null;
    },
    isMoved(row, before) {
      if (sort === "name") return row.name !== before.name;
      return sort === "size" ? row.bytes !== before.bytes : row.completedAt !== before.completedAt;
    },
    sideOf(row, shown) {
      const [first, last] = [shown[0], shown.at(-1)];
      if (sort === "newest") return first && row.completedAt >= first.completedAt ? "start" : null;
      return sort === "oldest" && last && row.completedAt >= last.completedAt ? "end" : null;
    },
  };
}

/** Loads an import with its steps and files. */
export const historyQuery = (id: string) =>
  queryOptions({
    queryKey: ["history-item", id],
    queryFn: ({ signal }) => dataOf(api.GET("/api/history/{id}", { params: { path: { id } }, signal })),
    // Not cached, because a retry ends under the same id with another result.
    gcTime: 0,
  });

/** Loads all categories, which the queue lists. */
export const categoriesQuery = queryOptions({
  queryKey: ["categories"],
  queryFn: async ({ signal }) => (await dataOf(api.GET("/api/queue", { params: { query: { limit: 1 } }, signal }))).categories,
  staleTime: 300_000,
});

/** Retries an import. Returns whether it is back in the queue. */
export async function retryItem({ id, name }: Pick<HistoryRow, "id" | "name">, how: { password?: string; other?: OtherTry }, onShow: () => void): Promise<boolean> {
  const body = { password: how.password || null, otherProviders: how.other === "everyone", ignoreHealth: how.other === "damage" };
  const call = api.POST("/api/history/{id}/retry", { params: { path: { id } }, body });
  const added = await act(dataOf(call), t("retry-failed"));
  if (added) tellRetried(1, onShow, followJob(id, name));
  return added !== null;
}

/** Retries several imports. */
export async function retryItems(target: HistoryTarget, onShow: () => void): Promise<void> {
  const retried = await act(dataOf(api.POST("/api/history/retry", { body: target })), t("retry-failed"));
  if (retried) tellRetried(retried.count, onShow);
}

function tellRetried(count: number, onShow: () => void, toastId?: string): void {
  toast({ ...(toastId === undefined ? {} : { id: toastId }), tone: "ok", title: t("retried", { count }), action: { label: t("show-queue"), run: onShow } });
}

/** Removes imports from the history and offers to undo that. */
export async function removeItems(target: HistoryTarget): Promise<void> {
  const removed = await act(dataOf(api.POST("/api/history/remove", { body: target })), t("remove-failed"));
  if (!removed) return;
  offerUndo(removed.undo, { title: t("removed", { count: removed.count }), undo: t("undo"), failed: t("undo-failed") });
}

/** Removes the files of imports that are in no library and offers to undo that. The imports stay in the history. */
export async function removeFiles(target: HistoryTarget): Promise<void> {
  const removed = await act(dataOf(api.POST("/api/history/remove-files", { body: target })), t("files-kept"));
  if (!removed) return;
  offerUndo(removed.undo, { title: t("files-removed", { count: removed.count }), undo: t("undo"), failed: t("undo-failed") });
}

async function act<T>(call: Promise<T>, failed: string): Promise<T | null> {
  const answer = await attempt(call, failed);
  listChanged("history");
  return answer;
}

/** Downloads the NZB of an import. */
export function saveNzb(id: string): void {
  saveUrl(urlOf(`api/history/${id}/nzb`));
}

/** Returns the page of the files of a release. */
export function filesPath(path: string): string {
  return `/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

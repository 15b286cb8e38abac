import { useMemo } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { attempt } from "@/lib/attempt";
import { offerUndo } from "@/lib/undo";
import { type ListRules, listChanged, useLiveList } from "@/lib/live-list";
import { t } from "../en";

export type QueueRow = Schema<"QueueRow">;
export type QueuePage = Schema<"QueuePage">;
export type QueueSelection = Schema<"QueueSelection">;
export type Priority = Schema<"JobPriority">;
export type QueueTarget = { ids: string[] } | { filter: QueueSelection };

/** The orders of the list; each has a fixed direction. */
export const queueSorts = ["position", "name", "size", "age"] as const;
export type QueueSort = (typeof queueSorts)[number];

export const jobStates = ["queued", "fetching", "running", "waiting", "paused"] as const satisfies readonly Schema<"JobState">[];
export const priorities = ["force", "high", "normal", "low"] as const satisfies readonly Priority[];

/** The filter of the list; missing fields match everything. */
export interface QueueFilter {
  q?: string;
  category?: string;
  state?: Schema<"JobState">;
}

const pageRows = 200;

/** The last position of any queue. */
export const lastPlace = 2_147_483_647;

/** Loads the queue under a filter and keeps it up to date. */
export function useQueue(filter: QueueFilter, sort: QueueSort) {
  const { q, category, state } = filter;
  const key = useMemo(() => ["queue", q ?? "", category ?? "", state ?? "", sort], [q, category, state, sort]);
  return useLiveList<QueueRow, QueuePage, "queue">({
    key,
    topic: "queue",
    load: (cursor, signal) => dataOf(api.GET("/api/queue", { params: { query: { q, category, state, sort, cursor, limit: pageRows } }, signal })),
    rules: queueRules({ ...filter }, sort),
    factsOf: (frame) => ({ paused: frame.state.paused, pausedUntil: frame.state.pausedUntil }),
  });
}

/** Returns the decisions that the page makes about its filter and order without the server. */
export function queueRules({ q, category, state }: QueueFilter, sort: QueueSort): ListRules<QueueRow> {
  const isFiltered = Boolean(q ?? category ?? state);
  return {
    isFiltered,
    belongs(row, before) {
      if (state && row.state !== state) return false;
      if (category && row.category.toLowerCase() !== category.toLowerCase()) return false;
      // Only the server compares words, so only an unchanged name is sure to match.
      return !q || before?.name === row.name ? true : null;
    },
    isMoved(row, before, at) {
      if (sort === "position") return isFiltered ? row.position !== before.position : row.position !== at;
      if (sort === "name") return row.name !== before.name;
      return sort === "size" && row.bytes !== before.bytes;
    },
    sideOf(row, shown) {
      const last = shown.at(-1);
      if (sort === "position" && !isFiltered) return row.position >= shown.length ? "end" : null;
      // Positions only decrease unless an item is moved, so a larger one comes after all shown rows.
      if (sort === "position") return last && row.position > last.position ? "end" : null;
      return sort === "age" && last && row.addedAt >= last.addedAt ? "end" : null;
    },
  };
}

/** Changes an item; a toast reports a failure. */
export function changeItem(id: string, change: Schema<"QueueChange">) {
  return act(dataOf(api.PUT("/api/queue/{id}", { params: { path: { id } }, body: change })), t("change-failed"));
}

/** Applies one change to several items. */
export function changeItems(target: QueueTarget, change: { category?: string; priority?: Priority; paused?: boolean }) {
  return act(dataOf(api.POST("/api/queue/change", { body: { ...target, ...change } })), t("change-failed"));
}

/** Removes items and offers to undo that. */
export async function removeItems(target: QueueTarget): Promise<void> {
  const removed = await act(dataOf(api.POST("/api/queue/remove", { body: target })), t("remove-failed"));
  if (!removed) return;
  offerUndo(removed.undo, { title: t("removed", { count: removed.count }), undo: t("undo"), failed: t("undo-failed") });
}

/** Pauses the whole queue for some minutes; null pauses it until it is resumed. */
export function pauseQueue(minutes: number | null) {
  return act(dataOf(api.POST("/api/queue/pause", { body: { minutes } })), t("pause-failed"));
}

export function resumeQueue() {
  return act(dataOf(api.POST("/api/queue/resume")), t("resume-failed"));
}

async function act<T>(call: Promise<T>, failed: string): Promise<T | null> {
  const answer = await attempt(call, failed);
  listChanged("queue");
  return answer;
}

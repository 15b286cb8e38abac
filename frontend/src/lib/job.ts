import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "./api-client";
import { useTopic } from "./events";

export type FileRow = Schema<"FileRow">;

/** Returns the largest film among the rows; undefined if there is none. */
export function filmOf(rows: readonly FileRow[]): FileRow | undefined {
  return rows.filter((row) => row.media === "video" && row.id !== null).sort((one, other) => (other.bytes ?? 0) - (one.bytes ?? 0))[0];
}

/** Loads the files of a folder of the tree; null loads nothing. */
export function useFolder(path: string | null) {
  return useQuery({
    queryKey: ["files", "folder", path],
    queryFn: ({ signal }) => dataOf(api.GET("/api/files", { params: { query: { path: path ?? "", limit: 100 } }, signal })),
    enabled: path !== null,
    retry: false,
  });
}

/** Follows an import: its row in the queue, and then its row in the history. */
export function useJob(id: string, name: string) {
  const client = useQueryClient();
  const queue = useQuery({
    queryKey: ["job", "queue", id],
    queryFn: ({ signal }) => dataOf(api.GET("/api/queue", { params: { query: { q: name } }, signal })),
    select: (page) => page.items.find((row) => row.id === id),
  });
  const history = useQuery({
    queryKey: ["job", "history", id],
    queryFn: ({ signal }) => dataOf(api.GET("/api/history", { params: { query: { q: name } }, signal })),
    select: (page) => page.items.find((row) => row.id === id),
  });
  const isOver = history.data !== undefined;
  useTopic(isOver ? null : "queue", () => void client.invalidateQueries({ queryKey: ["job", "queue", id] }));
  useTopic(isOver ? null : "history", () => void client.invalidateQueries({ queryKey: ["job", "history", id] }));
  return { queued: queue.data, finished: history.data };
}

import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";

const most = 6;

/** What the server finds in files, queue and history; nothing for an empty text. */
export function useFound(q: string) {
  return useQuery({
    queryKey: ["search", q],
    queryFn: async ({ signal }) => {
      const query = { q, limit: most };
      const [files, queue, history] = await Promise.all([
        dataOf(api.GET("/api/files", { params: { query }, signal })),
        dataOf(api.GET("/api/queue", { params: { query }, signal })),
        dataOf(api.GET("/api/history", { params: { query }, signal })),
      ]);
      return { files: files.items, queue: queue.items, history: history.items };
    },
    enabled: q !== "",
    retry: false,
  });
}

/** All settings with their titles; the page of settings has the same. */
export function useSettingFields() {
  return useQuery({
    queryKey: ["settings", "schema"],
    queryFn: ({ signal }) => dataOf(api.GET("/api/settings/schema", { signal })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

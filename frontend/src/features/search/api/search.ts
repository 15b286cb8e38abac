import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";

const most = 6;
const mostPlayed = 24;

/** Searches files, queue and history, or only files to play one; finds nothing for an empty text. */
export function useFound(q: string, isPlayed: boolean) {
  return useQuery({
    queryKey: ["search", q, isPlayed],
    queryFn: async ({ signal }) => {
      if (isPlayed) return { files: (await dataOf(api.GET("/api/files", { params: { query: { q, limit: mostPlayed } }, signal }))).items, queue: [], history: [] };
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

/** Loads the providers that commands can name. */
export function useProviders() {
  return useQuery({
    queryKey: ["providers"],
    queryFn: ({ signal }) => dataOf(api.GET("/api/providers", { signal })),
    retry: false,
  });
}

/** Loads all settings and their titles; the settings page uses the same cache. */
export function useSettingFields() {
  return useQuery({
    queryKey: ["settings", "schema"],
    queryFn: ({ signal }) => dataOf(api.GET("/api/settings/schema", { signal })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

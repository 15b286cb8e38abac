import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";

const most = 6;
const mostPlayed = 24;

/** What the server finds in files, queue and history, or in files alone if something is to be played; nothing for an empty text. */
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

/** The providers, which commands name. */
export function useProviders() {
  return useQuery({
    queryKey: ["providers"],
    queryFn: ({ signal }) => dataOf(api.GET("/api/providers", { signal })),
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

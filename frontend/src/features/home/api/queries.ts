import { queryOptions } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { type Samples, type StatWindow, samplesOf, windows } from "../samples";

/** The server's response for a window, extended with samples from events. */
export type Kept = Omit<Schema<"Stats">, "columns"> & Samples;

// Short, because a reopened page lacks the samples in between, but long enough for a prefetched response.
const staleTime = 2_000;

export const statsQuery = (window: StatWindow) =>
  queryOptions({
    queryKey: ["stats", window],
    queryFn: async ({ signal }): Promise<Kept> => {
      const query = window === "ten-minutes" ? {} : { window: windows[window].word };
      const { columns, ...stats } = await dataOf(api.GET("/api/stats", { params: { query }, signal }));
      return { ...stats, samples: samplesOf({ now: stats.now, columns }), pending: [] };
    },
    staleTime,
    // Samples move every second, so React Query would never find equal ones at the same index.
    structuralSharing: false,
  });

export const providersQuery = queryOptions({ queryKey: ["home", "providers"], queryFn: ({ signal }) => dataOf(api.GET("/api/providers", { signal })), staleTime });

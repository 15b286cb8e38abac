import { queryOptions } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { type Samples, type StatWindow, samplesOf, windows } from "../samples";

/** What the server answers of a window, with the samples that events add. */
export type Kept = Omit<Schema<"Stats">, "columns"> & Samples;

// A page that is opened again lacks what came in between; what was asked for ahead is new enough for the page that it was asked for.
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
    // A sample has another place each second: to look for equal ones at the same places is in vain.
    structuralSharing: false,
  });

export const providersQuery = queryOptions({ queryKey: ["home", "providers"], queryFn: ({ signal }) => dataOf(api.GET("/api/providers", { signal })), staleTime });

import { queryOptions } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { queryClient } from "@/lib/query-client";
import type { Samples, StatWindow } from "../samples";

/** What the server answers of a window, with the samples that events add. */
export type Kept = Omit<Schema<"Stats">, "samples"> & Samples;

// A page that is opened again lacks what came in between; what was asked for ahead is new enough for the page that it was asked for.
const staleTime = 2_000;

export const statsQuery = (window: StatWindow) =>
  queryOptions({
    queryKey: ["stats", window],
    queryFn: async ({ signal }): Promise<Kept> => ({ ...(await dataOf(api.GET("/api/stats", { params: { query: window === "ten-minutes" ? {} : { window } }, signal }))), pending: [] }),
    staleTime,
    // A sample has another place each second: to look for equal ones at the same places is in vain.
    structuralSharing: false,
  });

export const streamsQuery = queryOptions({ queryKey: ["home", "streams"], queryFn: ({ signal }) => dataOf(api.GET("/api/streams", { signal })), staleTime });

export const providersQuery = queryOptions({ queryKey: ["home", "providers"], queryFn: ({ signal }) => dataOf(api.GET("/api/providers", { signal })), staleTime });

/** Asks for what the page will show, until it is there. What fails is asked for again by the page. */
export async function askAhead(window: StatWindow): Promise<void> {
  await Promise.all([queryClient.prefetchQuery(statsQuery(window)), queryClient.prefetchQuery(streamsQuery), queryClient.prefetchQuery(providersQuery)]);
}

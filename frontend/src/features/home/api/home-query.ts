import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";
import { queryClient } from "@/lib/query-client";

export const homeKey = ["home"];

/** All that Home shows. What was asked for ahead is new enough for the page that it was asked for. */
export const homeQuery = queryOptions({
  queryKey: homeKey,
  queryFn: ({ signal }) => dataOf(api.GET("/api/home", { signal })),
  staleTime: 2_000,
});

/** Asks for what Home will show, until it is there, before its scripts are. What fails is asked for again by the page. */
export async function askAhead(): Promise<void> {
  await queryClient.prefetchQuery(homeQuery);
}

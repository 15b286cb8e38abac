import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";
import { queryClient } from "@/lib/query-client";

export const homeKey = ["home"];

/** Loads all content of Home. An answer that was loaded ahead is new enough for its page. */
export const homeQuery = queryOptions({
  queryKey: homeKey,
  queryFn: ({ signal }) => dataOf(api.GET("/api/home", { signal })),
  staleTime: 2_000,
});

/** Loads the answer for Home ahead of its scripts. If that fails, the page asks again. */
export async function askAhead(): Promise<void> {
  await queryClient.prefetchQuery(homeQuery);
}

import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./api-client";

/** Who is logged in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/session", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** How far the setup is; open to everybody. */
export const setupQuery = queryOptions({
  queryKey: ["setup"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/setup", { signal })),
});

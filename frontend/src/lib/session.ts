import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./api-client";

/** The user who is logged in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/session", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Progress of the setup; readable without a login. */
export const setupQuery = queryOptions({
  queryKey: ["setup"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/setup", { signal })),
});

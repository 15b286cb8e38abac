import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";
import type { paths } from "@/types/api";

/** The contents of an earlier installation, and the progress of its import. */
export type FamilyImport = paths["/api/setup/import"]["get"]["responses"][200]["content"]["application/json"];

const pauseMs = 1_000;

/** The import of an earlier installation. The first call starts the search. While the server works it is polled, because there is no event. */
export const importQuery = queryOptions({
  queryKey: ["setup", "import"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/setup/import", { signal })),
  refetchInterval: ({ state }) => (state.data?.state === "looking" || state.data?.state === "running" ? pauseMs : false),
  staleTime: 0,
  retry: false,
});

/** Starts the import. */
export const beginImport = () => dataOf(api.POST("/api/setup/import"));

import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";
import type { paths } from "@/types/api";

/** What the server found of an earlier installation, and how far it has taken it over. */
export type FamilyImport = paths["/api/setup/import"]["get"]["responses"][200]["content"]["application/json"];

const pauseMs = 1_000;

/** The import of an earlier installation. The first call lets the server look; while it looks or works, it is asked again each second, for there is no event. */
export const importQuery = queryOptions({
  queryKey: ["setup", "import"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/setup/import", { signal })),
  refetchInterval: ({ state }) => (state.data?.state === "looking" || state.data?.state === "running" ? pauseMs : false),
  staleTime: 0,
  retry: false,
});

/** Begins to take over. */
export const beginImport = () => dataOf(api.POST("/api/setup/import"));

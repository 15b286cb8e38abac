import { queryOptions } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";

export type RescueList = Schema<"RescueList">;

/** Loads the cause of safe mode; fails with 404 outside safe mode. */
export const rescueQuery = queryOptions({
  queryKey: ["rescue"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/rescue", { signal })),
  staleTime: 0,
  retry: false,
});

export const openRescue = (code: string) => dataOf(api.POST("/api/rescue", { body: { code, requeue: false } }));

export const rescueWith = (code: string, backup: string, requeue: boolean, passphrase: string) =>
  dataOf(api.POST("/api/rescue", { body: { code, backup, requeue, ...(passphrase === "" ? {} : { passphrase }) } }));

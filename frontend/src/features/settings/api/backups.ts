import { queryOptions } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";

export type BackupRow = Schema<"BackupRow">;

/** All valid backups, the newest first. */
export const backupsQuery = queryOptions({
  queryKey: ["backups"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/backups", { signal })),
});

/** NZBs that were added after the restored backup. */
export const laterQuery = queryOptions({
  queryKey: ["backups", "later"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/backups/later", { signal })),
});

/** Loads the cost of a restore, for which the server reads the whole backup. */
export const restoreCostQuery = (id: string) =>
  queryOptions({
    queryKey: ["backups", "cost", id],
    queryFn: ({ signal }) => dataOf(api.POST("/api/backups/{id}/restore", { params: { path: { id }, query: { dryRun: true } }, body: { requeue: false }, signal })),
    gcTime: 0,
    retry: false,
  });

export const makeBackup = () => dataOf(api.POST("/api/backups"));

export const deleteBackup = (id: string) => dataOf(api.DELETE("/api/backups/{id}", { params: { path: { id } } }));

export const restoreBackup = (id: string, requeue: boolean, proof: { password?: string; passphrase?: string }) =>
  dataOf(api.POST("/api/backups/{id}/restore", { params: { path: { id } }, body: { requeue, ...proof } }));

export const requeueLater = () => dataOf(api.POST("/api/backups/later/requeue", { body: {} }));

import { queryOptions } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";

export type ArrInstance = Schema<"ArrInstance">;
export type ArrConnected = Schema<"ArrConnected">;
export type ArrPlan = Schema<"ArrPlanned">;
export type PathCheck = Schema<"PathCheck">;
export type AccessCard = Schema<"AccessCard">;

/** The addresses under which other programs reach this server. */
export const accessQuery = queryOptions({
  queryKey: ["access"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/access", { signal })),
});

/** The login of the WebDAV tree, with its password while it may be shown. */
export const webDavQuery = queryOptions({
  queryKey: ["webdav"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/setup/webdav", { signal })),
});

/** The connected programs. */
export const arrQuery = queryOptions({
  queryKey: ["arr"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/arr", { signal })),
});

export async function makeWebDavPassword({ password }: { password?: string }) {
  if (password !== undefined) await api.POST("/api/session/password", { body: { password } });
  return dataOf(api.POST("/api/settings/webdav-password"));
}

/** Returns what a connection would change, without changing it. */
export const planArr = (body: Schema<"ArrRequest">) => dataOf(api.POST("/api/arr/plan", { body }));

export const connectArr = (body: Schema<"ArrRequest">) => dataOf(api.POST("/api/arr/connect", { body }));

export const testArr = (body: Schema<"ArrRequest">) => dataOf(api.POST("/api/arr/test", { body }));

export const checkPath = (id: string, signal?: AbortSignal) => dataOf(api.POST("/api/arr/path-check", { body: { id }, ...(signal && { signal }) }));

export async function removeArr(id: string): Promise<void> {
  await api.DELETE("/api/arr/{id}", { params: { path: { id } } });
}

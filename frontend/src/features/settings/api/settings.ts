import { queryOptions } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";

export type SettingField = Schema<"SettingField">;
export type SettingValue = Schema<"SettingValue">;
export type FieldGroup = Schema<"SettingFieldGroup">;
export type SettingsSet = Schema<"SettingsSet">;
export type SecretKeyReport = Schema<"SecretKeyReport">;

/** The schema of all settings; only another version of the server changes it. */
export const schemaQuery = queryOptions({
  queryKey: ["settings", "schema"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/settings/schema", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The current values. */
export const valuesQuery = queryOptions({
  queryKey: ["settings", "values"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/settings", { signal })),
});

/** The recently saved sets, the newest first. */
export const setsQuery = queryOptions({
  queryKey: ["settings", "sets"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/settings/sets", { signal })),
});

/** The key file of the secrets, and the values lost if it is replaced. */
export const secretKeyQuery = queryOptions({
  queryKey: ["settings", "secret-key"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/settings/secret-key", { signal })),
});

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/keys", { signal })),
});

export const systemQuery = queryOptions({
  queryKey: ["system"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/system", { signal })),
});

/** The active sessions, the last used first. */
export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/sessions", { signal })),
});

export const saveSettings = (values: Record<string, string | null>, proof: { password?: string } = {}) =>
  dataOf(api.PUT("/api/settings", { body: { values, ...proof } }));

export const giveUpSecretKey = (id: string, password: string) => dataOf(api.POST("/api/settings/secret-key/give-up", { body: { id, password } }));

export const resetSetting = (key: string) => dataOf(api.DELETE("/api/settings/{key}", { params: { path: { key } } }));

export const restoreSet = (id: string) => dataOf(api.POST("/api/settings/sets/{id}/restore", { params: { path: { id } } }));

export const importSettings = (text: string) =>
  dataOf(api.POST("/api/settings/import", { body: text, bodySerializer: (body) => body, headers: { "Content-Type": "text/plain" } }));

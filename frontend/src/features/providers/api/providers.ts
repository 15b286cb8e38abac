import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { useTopic } from "@/lib/events";

export type ProviderRow = Schema<"ProviderRow">;
export type ProviderSave = Schema<"ProviderSave">;

/** The saved providers with their state. */
export const providersQuery = queryOptions({
  queryKey: ["providers"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/providers", { signal })),
});

/** Loads the providers and keeps them up to date through the event stream. */
export function useProviders() {
  const client = useQueryClient();
  useTopic("providers", (frame) =>
    client.setQueryData(providersQuery.queryKey, (before) => before && { ...before, items: frame.items }),
  );
  return useQuery(providersQuery);
}

/** Saves a provider; creates one if the id is null. */
export function saveProvider(id: string | null, body: ProviderSave): Promise<ProviderRow> {
  return id === null
    ? dataOf(api.POST("/api/providers", { body }))
    : dataOf(api.PUT("/api/providers/{id}", { params: { path: { id } }, body }));
}

export async function removeProvider(id: string): Promise<void> {
  await api.DELETE("/api/providers/{id}", { params: { path: { id } } });
}

/** Adds bytes to the data cap of a provider. */
export async function refillProvider(id: string, bytes: number): Promise<void> {
  await api.POST("/api/providers/{id}/refill", { params: { path: { id } }, body: { bytes } });
}

export async function resetProvider(id: string, what: Schema<"ProviderMemoryKind">): Promise<void> {
  await api.POST("/api/providers/{id}/reset", { params: { path: { id } }, body: { what } });
}

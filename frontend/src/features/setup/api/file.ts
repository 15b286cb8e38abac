import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";

/** Loads a file with its addresses; null loads nothing. */
export function useFile(id: string | null) {
  return useQuery({
    queryKey: ["file", id],
    queryFn: ({ signal }) => dataOf(api.GET("/api/files/{id}", { params: { path: { id: id ?? "" } }, signal })),
    enabled: id !== null,
  });
}

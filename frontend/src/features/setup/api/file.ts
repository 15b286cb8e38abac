import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";

/** What a file is and how it is reached. */
export function useFile(id: string | null) {
  return useQuery({
    queryKey: ["file", id],
    queryFn: ({ signal }) => dataOf(api.GET("/api/files/{id}", { params: { path: { id: id ?? "" } }, signal })),
    enabled: id !== null,
  });
}

import { useMutation, useQuery } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { useTopicFrame } from "@/lib/events";

/** Loads a playback; events bring all of it every half second. Null once the server has forgotten it, undefined until it is loaded. */
export function useStream(id: string) {
  const frame = useTopicFrame(`stream:${id}`);
  const query = useQuery({
    queryKey: ["stream", id],
    queryFn: async ({ signal }): Promise<Schema<"StreamDetail"> | null> => {
      try {
        return await dataOf(api.GET("/api/streams/{id}", { params: { path: { id } }, signal }));
      } catch (error) {
        if (ApiProblem.from(error).status === 404) return null;
        throw error;
      }
    },
    staleTime: 0,
  });
  return { stream: frame ? frame.stream : query.data, error: query.error, retry: () => void query.refetch() };
}

export function useStop(id: string) {
  return useMutation({ mutationFn: () => api.DELETE("/api/streams/{id}", { params: { path: { id } } }) });
}

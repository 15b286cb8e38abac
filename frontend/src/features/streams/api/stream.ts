import { useMutation, useQuery } from "@tanstack/react-query";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { useTopicFrame } from "@/lib/events";

/** A playback at this moment: events bring all of it every half second. Null once it is forgotten, undefined until anything is known. */
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

/** Ends a playback. */
export function useStop(id: string) {
  return useMutation({ mutationFn: () => api.DELETE("/api/streams/{id}", { params: { path: { id } } }) });
}

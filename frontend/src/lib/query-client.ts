import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiProblem } from "./api-problem";
import { server } from "./server-watch";

/** Queries neither poll nor refetch on their own, because changes arrive on the event stream. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: (error) => ApiProblem.from(error).status === 0 && server.reportAway() }),
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (failures, error) => failures < 2 && isPassing(ApiProblem.from(error)),
      },
      mutations: { retry: false },
    },
  });
}

export const queryClient = createQueryClient();

// Queries that failed while the server was away are retried when it is back.
server.onBack(() => void queryClient.refetchQueries({ predicate: ({ state }) => state.status === "error" }));

/** Whether a retry may succeed in a moment. */
function isPassing(problem: ApiProblem): boolean {
  return problem.status === 0 || problem.status === 502 || problem.status === 503;
}

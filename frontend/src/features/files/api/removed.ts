import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { attempt } from "@/lib/attempt";
import { useTopic } from "@/lib/events";
import { useRefetch } from "@/lib/live-list";
import { toast } from "@/lib/toast";
import { t } from "../en";

export type RemovedRow = Schema<"QuarantineRow">;

const pageRows = 200;
const key = ["removed-files"];

/** Loads the removed files, newest first, and reloads them when the library changes. */
export function useRemovedList(q: string) {
  const queryKey = useMemo(() => [...key, q], [q]);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => dataOf(api.GET("/api/quarantine", { params: { query: { q: q || undefined, limit: pageRows, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: 0,
    refetchOnMount: "always",
  });
  const refetch = useRefetch(queryKey);
  useTopic("files", refetch);
  const { hasNextPage, isFetching, fetchNextPage } = query;
  const pages = query.data?.pages;
  return {
    rows: useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]),
    total: pages?.[0]?.total ?? 0,
    isLoading: query.isPending,
    problem: query.isError && !query.isFetching ? ApiProblem.from(query.error) : null,
    loadMore: useCallback(() => {
      if (hasNextPage && !isFetching) void fetchNextPage();
    }, [hasNextPage, isFetching, fetchNextPage]),
    refetch: () => void query.refetch(),
  };
}

/** Returns a function that brings removed files back. */
export function useRestore() {
  const client = useQueryClient();
  return async (ids: string[]) => {
    const done = await attempt(dataOf(api.POST("/api/quarantine/restore", { body: { ids } })), t("restore-failed"));
    if (done) toast({ tone: "ok", title: t("restored", { count: done.count }) });
    await client.invalidateQueries({ queryKey: key });
  };
}

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";

export type ReceiptRow = Schema<"ReceiptRow">;
export type ReceiptSumRow = Schema<"ReceiptSumRow">;

const pageRows = 100;

// Receipts of open playbacks are saved twice a minute.
const refreshMs = 30_000;

/** Loads the receipts of a month such as "2026-11", or all, the newest first. */
export function useReceipts(month: string) {
  const query = useInfiniteQuery({
    queryKey: ["receipts", month],
    queryFn: ({ pageParam, signal }) => dataOf(api.GET("/api/receipts", { params: { query: { ...rangeOf(month), limit: pageRows, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: 0,
    refetchInterval: refreshMs,
  });
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

/** Loads the sums of a month or of all receipts; undefined until they are loaded. */
export function useSums(by: "provider" | "month", month: string): readonly ReceiptSumRow[] | undefined {
  const { data } = useQuery({
    queryKey: ["receipt-sums", by, month],
    queryFn: ({ signal }) => dataOf(api.GET("/api/receipts/sums", { params: { query: { by, ...rangeOf(month) } }, signal })),
    staleTime: 0,
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
  return data?.items;
}

/** The first day of a month and of the next one. */
export function rangeOf(month: string): { from?: string; to?: string } {
  const [year, number] = month.split("-").map(Number);
  if (!year || !number) return {};
  const next = number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, "0")}`;
  return { from: `${month}-01`, to: `${next}-01` };
}

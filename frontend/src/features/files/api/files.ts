import { queryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { useTopic } from "@/lib/events";
import { useRefetch } from "@/lib/live-list";

export type FileRow = Schema<"FileRow">;
export type FileDetail = Schema<"FileDetail">;
export type FileTrack = Schema<"FileTrack">;
export type FileTracks = Schema<"FileTracks">;

/** The orders of the list; each has a fixed direction. */
export const fileSorts = ["name", "newest", "size"] as const;

const pageRows = 200;

/** Loads a file with its addresses. */
export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: ["file", id],
    queryFn: ({ signal }) => dataOf(api.GET("/api/files/{id}", { params: { path: { id } }, signal })),
  });

/** Loads the tracks of a file; for that the server reads its header. */
export const tracksQuery = (id: string) =>
  queryOptions({
    queryKey: ["tracks", id],
    queryFn: ({ signal }) => dataOf(api.GET("/api/files/{id}/tracks", { params: { path: { id } }, signal })),
  });

/** Loads a folder, or the results of a search in the whole library, and keeps them up to date. */
export function useFileList(path: string, q: string, sort: string) {
  const folder = q === "" ? path : "";
  const key = useMemo(() => ["files", folder, q, sort], [folder, q, sort]);
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      dataOf(api.GET("/api/files", { params: { query: { path: folder, q: q || undefined, sort, limit: pageRows, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    // A query without observers gets no events, so its rows may be old.
    staleTime: 0,
    refetchOnMount: "always",
  });
  const refetch = useRefetch(key);
  const pages = query.data?.pages;
  useTopic("files", (frame) => {
    const isNewer = pages?.some((page) => page.seq < frame.seq) ?? false;
    if (isNewer && (frame.kind === "snapshot" || touches(frame.paths, folder, q))) refetch();
  });
  const { hasNextPage, isFetching, fetchNextPage } = query;
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

/** Whether changes in the named folders can affect a list; null names all folders. */
export function touches(paths: readonly string[] | null, folder: string, q: string): boolean {
  if (paths === null || q !== "") return true;
  return paths.some((path) => path === folder || folder.startsWith(`${path}/`));
}

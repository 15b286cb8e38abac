import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { useTopic } from "@/lib/events";
import { type Level, type Lines, type LogFilters, type LogPage, addNew, addOlder, fits, join, levelOf } from "../lines";

const pageSize = 200;

interface Kept extends Omit<LogPage, "items" | "next">, Lines {}

/** Loads the lines that match the filters and keeps them up to date. */
export function useLog(filters: LogFilters) {
  const client = useQueryClient();
  const queryKey = ["logs", filters];
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Kept> => {
      const page = await readPage(filters, undefined, signal);
      const known = client.getQueryData<Kept>(queryKey);
      return { ...page, ...(known ? join(known, page) : page) };
    },
    staleTime: 0,
  });
  const older = useMutation({
    mutationFn: async (cursor: string) => readPage(filters, cursor),
    onSuccess: (page) => client.setQueryData<Kept>(queryKey, (known) => known && { ...known, ...addOlder(known, page) }),
  });
  // Whether a frame has arrived. A snapshot after that means that lines were missed.
  const isBegun = useRef(false);
  useTopic("logs", (frame) => {
    const known = client.getQueryData<Kept>(queryKey);
    const isMissed = frame.kind === "snapshot" ? isBegun.current || (known !== undefined && frame.seq > known.seq) : frame.lines === null;
    isBegun.current = true;
    if (isMissed) return void client.invalidateQueries({ queryKey });
    const lines = (frame.lines ?? []).filter((line) => fits(line, filters));
    client.setQueryData<Kept>(
      queryKey,
      (before) => before && { ...before, ...addNew(before, lines), seq: frame.seq, total: before.total + lines.length, sources: withSources(before.sources, frame.lines ?? []) },
    );
  });
  const { data } = query;
  function loadOlder() {
    if (data?.next && !older.isPending && !older.isError) older.mutate(data.next);
  }
  return { log: data, error: query.error, retry: () => void query.refetch(), loadOlder, isLoadingOlder: older.isPending, olderError: older.error, retryOlder: () => data?.next && older.mutate(data.next) };
}

function readPage({ level, ...others }: LogFilters, cursor?: string, signal?: AbortSignal): Promise<LogPage> {
  const query = { ...others, limit: pageSize, ...(levelOf(level) ? { level: levelOf(level) } : {}), ...(cursor ? { cursor } : {}) };
  return dataOf(api.GET("/api/logs", { params: { query }, ...(signal ? { signal } : {}) }));
}

function withSources(sources: readonly string[], lines: readonly Schema<"LogLine">[]): string[] {
  return [...new Set([...sources, ...lines.map((line) => line.source)])].sort();
}

/** Raises the level for a quarter of an hour; null returns to the setting. */
export function useLevelChange() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (level: Level | null) => dataOf(api.PUT("/api/logs/level", { body: { level } })),
    onSuccess: ({ level, until }) => client.setQueriesData<Kept>({ queryKey: ["logs"] }, (known) => known && { ...known, level, levelUntil: until }),
  });
}

import { type InfiniteData, type QueryKey, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useEffectEvent, useMemo, useRef } from "react";
import { ApiProblem } from "./api-problem";
import { type Frame, foldRows, hub, useTopic } from "./events";

/** A page of a list, as the API returns it. */
export interface ListPage<Row> {
  items: Row[];
  next: string | null;
  total: number;
  seq: number;
}

/** A frame of the topic of such a list. */
export interface ListFrame<Row> {
  kind: "snapshot" | "delta";
  seq: number;
  total: number;
  changed: Row[] | null;
  removed: string[];
}

/** The decisions about its filter and order that a list makes itself; null leaves a decision to the server. */
export interface ListRules<Row> {
  isFiltered: boolean;
  /** Whether a changed row belongs to the list; null if only the server can tell. `before` is the shown row, if there is one. */
  belongs: (row: Row, before: Row | undefined) => boolean | null;
  /** Whether a shown row belongs at another position now; `at` is the present one. */
  isMoved: (row: Row, before: Row, at: number) => boolean;
  /** Position of a row that is not shown: before or after all shown rows, or null if only the server can tell. */
  sideOf: (row: Row, shown: readonly Row[]) => "start" | "end" | null;
}

/** The pages after a frame was folded in. */
export interface FoldedPages<Page> {
  pages: Page[];
  /** The frame does not determine the rows, so the list must be reloaded. */
  isStale: boolean;
}

/** Folds a frame into all pages that are older than it; `facts` are its values besides the rows. Newer pages stay the same objects. */
export function foldFrame<Row extends { id: string }, Page extends ListPage<Row>>(
  pages: readonly Page[],
  frame: ListFrame<Row>,
  rules: ListRules<Row>,
  facts: Partial<Page> = {},
): FoldedPages<Page> {
  const isOlder = (page: Page) => page.seq < frame.seq;
  const same = { pages: [...pages], isStale: false };
  if (!pages.some(isOlder)) return same;
  if (frame.kind === "snapshot" || frame.changed === null) return { ...same, isStale: true };

  const shown = new Map(pages.flatMap((page) => page.items.map((row) => [row.id, row] as const)));
  const gone = new Set(frame.removed);
  const changed: Row[] = [];
  const added: Row[] = [];
  let isStale = false;
  for (const row of frame.changed) {
    const before = shown.get(row.id);
    const belongs = rules.belongs(row, before);
    if (belongs === null) isStale = true;
    else if (!before) added.push(...(belongs ? [row] : []));
    else if (belongs) changed.push(row);
    else gone.add(row.id);
  }

  const rows = pages.flatMap((page) => page.items);
  const hasMore = pages.at(-1)?.next != null;
  const starts: Row[] = [];
  const ends: Row[] = [];
  let beyond = 0;
  for (const row of added) {
    const side = rows.length === 0 && !hasMore ? "end" : rules.sideOf(row, rows);
    if (side === "start") starts.unshift(row);
    else if (side === "end" && hasMore) beyond += 1;
    else if (side === "end") ends.push(row);
    else isStale = true;
  }

  const lost = rows.filter((row) => gone.has(row.id)).length;
  // A removed row that was never loaded may or may not have matched the filter.
  if (rules.isFiltered && hasMore && frame.removed.some((id) => !shown.has(id))) isStale = true;
  const counted = (pages[0]?.total ?? 0) - lost + starts.length + ends.length + beyond;
  const total = rules.isFiltered ? counted : frame.total;
  const folded = pages.map((page, at) => {
    if (!isOlder(page)) return page;
    const { items } = foldRows(page.items, changed, [...gone]);
    const isFirst = at === 0;
    const isLast = at === pages.length - 1;
    return { ...page, ...facts, items: [...(isFirst ? starts : []), ...items, ...(isLast ? ends : [])], total, seq: frame.seq };
  });
  return { pages: folded, isStale: isStale || standsElsewhere(folded, changed, shown, rules) };
}

function standsElsewhere<Row extends { id: string }>(
  pages: readonly ListPage<Row>[],
  changed: readonly Row[],
  shown: ReadonlyMap<string, Row>,
  rules: ListRules<Row>,
): boolean {
  if (changed.length === 0) return false;
  const news = new Set(changed);
  return pages
    .flatMap((page) => page.items)
    .some((row, at) => {
      const before = news.has(row) ? shown.get(row.id) : undefined;
      return before !== undefined && rules.isMoved(row, before, at);
    });
}

interface LiveListOptions<Row extends { id: string }, Page extends ListPage<Row>, T extends "queue" | "history"> {
  key: QueryKey;
  topic: T;
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page>;
  rules: ListRules<Row>;
  /** Returns the values of a frame besides its rows. */
  factsOf?: (frame: Frame<T>) => Partial<Page>;
}

/** A list for the page that shows it. */
export interface LiveList<Row, Page> {
  rows: readonly Row[];
  /** The first page, with its values besides the rows; undefined until it is loaded. */
  first: Page | undefined;
  total: number;
  isLoading: boolean;
  /** Why loading failed; null if it succeeded or is running. */
  problem: ApiProblem | null;
  loadMore: () => void;
  refetch: () => void;
}

const keptFrames = 100;
const changes = new EventTarget();

/** Must be called after a change by this tab. Reloads the lists of the topic unless the event stream is open and reports the change. */
export function listChanged(topic: "queue" | "history"): void {
  if (hub.state !== "open") changes.dispatchEvent(new Event(topic));
}

/**
 * A list that loads more rows as it is scrolled and follows its topic. Frames are folded into the shown rows at once. If a frame does not suffice,
 * the rows are reloaded, four times a second at most.
 */
export function useLiveList<Row extends { id: string }, Page extends ListPage<Row>, T extends "queue" | "history">({
  key, topic, load, rules, factsOf,
}: LiveListOptions<Row, Page, T>): LiveList<Row, Page> {
  const client = useQueryClient();
  const recent = useRef<Frame<T>[]>([]);
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page) => page.next ?? undefined,
    // A query without observers gets no events, so its rows may be old.
    staleTime: 0,
    refetchOnMount: "always",
  });
  const refetch = useRefetch(key);

  function fold(frames: readonly Frame<T>[]) {
    const data = client.getQueryData<InfiniteData<Page, string | undefined>>(key);
    if (!data) return;
    let pages = data.pages;
    let isStale = false;
    for (const frame of frames) {
      const rowsFrame = frame as unknown as ListFrame<Row>;
      if (!pages.some((page) => page.seq < rowsFrame.seq)) continue;
      const folded = foldFrame<Row, Page>(pages, rowsFrame, rules, factsOf?.(frame));
      pages = folded.pages;
      isStale ||= folded.isStale;
    }
    if (pages !== data.pages) client.setQueryData(key, { ...data, pages });
    if (isStale) refetch();
  }

  useTopic(topic, (frame) => {
    recent.current = [...recent.current.slice(1 - keptFrames), frame];
    fold([frame]);
  });
  // Frames that arrived while a request was running are newer than its answer.
  const foldRecent = useEffectEvent(() => fold(recent.current));
  useEffect(() => foldRecent(), [query.dataUpdatedAt]);

  useEffect(() => {
    changes.addEventListener(topic, refetch);
    return () => changes.removeEventListener(topic, refetch);
  }, [topic, refetch]);

  const { hasNextPage, isFetching, fetchNextPage } = query;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const pages = query.data?.pages;
  const rows = useMemo(() => withoutDoubles(pages ?? []), [pages]);
  return {
    rows,
    first: pages?.[0],
    total: pages?.[0]?.total ?? 0,
    isLoading: query.isPending,
    problem: query.isError && !query.isFetching ? ApiProblem.from(query.error) : null,
    loadMore,
    refetch: () => void query.refetch(),
  };
}

// As often as frames come, but a slow server rests four times as long as its last answer took.
const shortestMs = 250;
const longestMs = 1_000;
const restOfAnswer = 4;

/** Reloads the queries of this key: at once, then after a pause that grows with the duration of the answer. */
export function useRefetch(key: QueryKey): () => void {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const last = useRef(Number.NEGATIVE_INFINITY);
  const rest = useRef(shortestMs);
  const wanted = useRef(key);
  useEffect(() => void (wanted.current = key), [key]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    if (timer.current !== undefined) return;
    const ask = () => {
      timer.current = undefined;
      const began = performance.now();
      last.current = began;
      void client.invalidateQueries({ queryKey: wanted.current }, { cancelRefetch: false }).then(() => {
        rest.current = Math.min(longestMs, Math.max(shortestMs, restOfAnswer * (performance.now() - began)));
      });
    };
    timer.current = setTimeout(ask, Math.max(0, last.current + rest.current - performance.now()));
  }, [client]);
}

// A row that moved between two requests may be on both pages.
function withoutDoubles<Row extends { id: string }>(pages: readonly ListPage<Row>[]): Row[] {
  const seen = new Set<string>();
  return pages.flatMap((page) => page.items.filter((row) => !seen.has(row.id) && seen.add(row.id)));
}

import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";

/** The state of a list in the address. */
export interface ListUrl<Filter extends string> {
  filters: Partial<Record<Filter, string>>;
  /** Name of the order; a leading `-` means descending. */
  sort: string;
  /** Starts at 1. */
  page: number;
  isFiltered: boolean;
  /** Sets a filter, or removes it if the text is empty; returns to the first page. */
  setFilter(name: Filter, value: string): void;
  setSort(sort: string): void;
  setPage(page: number): void;
  /** Removes all filters. */
  clear(): void;
}

/** Keeps filter, sort and page of a list in the address, so that a reload and a link show the same. */
export function useListUrl<const Filter extends string>(options: { filters: readonly Filter[]; sort: string }): ListUrl<Filter> {
  const [search, setSearch] = useSearchParams();
  const names = options.filters.join(",");
  const usual = options.sort;
  const change = useCallback(
    (values: Record<string, string>) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          next.delete("page");
          for (const [name, value] of Object.entries(values)) {
            if (value === "") next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: true, preventScrollReset: true },
      ),
    [setSearch],
  );
  return useMemo(() => {
    const wanted = names === "" ? [] : (names.split(",") as Filter[]);
    const filters: Partial<Record<Filter, string>> = {};
    for (const name of wanted) {
      const value = search.get(name);
      if (value) filters[name] = value;
    }
    return {
      filters,
      sort: search.get("sort") ?? usual,
      page: Math.max(1, Number.parseInt(search.get("page") ?? "1", 10) || 1),
      isFiltered: Object.keys(filters).length > 0,
      setFilter: (name, value) => change({ [name]: value }),
      setSort: (sort) => change({ sort: sort === usual ? "" : sort }),
      setPage: (page) => change({ page: page > 1 ? String(page) : "" }),
      clear: () => change(Object.fromEntries(wanted.map((name) => [name, ""]))),
    };
  }, [search, names, usual, change]);
}

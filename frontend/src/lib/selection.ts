import { useState } from "react";

/** Rows that are ticked, or all that match a filter. */
export interface ListSelection<Filter> {
  ids: ReadonlySet<string>;
  /** All that match, loaded or not. */
  isAll: boolean;
  count: number;
  set: (ids: ReadonlySet<string>) => void;
  selectAll: () => void;
  clear: () => void;
  /** What a bulk call takes: ids, or the filter. */
  target: { ids: string[] } | { filter: Filter };
}

/** Ticks of a list. They are forgotten as its filter changes, and rows that go take theirs with them. */
export function useSelection<Filter extends object>(rows: readonly { id: string }[], total: number, filter: Filter): ListSelection<Filter> {
  const place = JSON.stringify(filter);
  const [state, setState] = useState<{ place: string; ids: ReadonlySet<string>; isAll: boolean }>({ place, ids: new Set(), isAll: false });
  const isHere = state.place === place;
  const isAll = isHere && state.isAll;
  const ticked = isHere ? state.ids : new Set<string>();
  const ids = isAll ? new Set(rows.map((row) => row.id)) : ticked.size === 0 ? ticked : new Set(rows.flatMap((row) => (ticked.has(row.id) ? [row.id] : [])));
  return {
    ids,
    isAll,
    count: isAll ? total : ids.size,
    set: (next) => setState({ place, ids: next, isAll: false }),
    selectAll: () => setState({ place, ids: new Set(), isAll: true }),
    clear: () => setState({ place, ids: new Set(), isAll: false }),
    target: isAll ? { filter } : { ids: [...ids] },
  };
}

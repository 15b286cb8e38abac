import { useState } from "react";

/** The ticked rows, or all rows that match a filter. */
export interface ListSelection<Filter> {
  ids: ReadonlySet<string>;
  /** All matching rows, loaded or not. */
  isAll: boolean;
  count: number;
  set: (ids: ReadonlySet<string>) => void;
  selectAll: () => void;
  clear: () => void;
  /** The argument of a bulk call: ids, or the filter. */
  target: { ids: string[] } | { filter: Filter };
}

/** Keeps the ticked rows of a list. A new filter clears them, and a row that disappears is unticked. */
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

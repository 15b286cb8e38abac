import { ArrowDown, ArrowUp } from "lucide-react";
import { type FocusEvent, type KeyboardEvent, type ReactNode, type RefObject, useLayoutEffect, useRef } from "react";
import { cx } from "@/lib/cx";
import { useIsPhone } from "@/lib/media";
import { letterKeys, useKeyNotes, useShortcut } from "@/lib/shortcuts";
import { t } from "./en";
import { Icon } from "./icon";
import { Menu } from "./menu";
import type { MenuItem } from "./menu-item";
import { SkeletonRows } from "./skeleton";
import { Checkbox } from "./switch-field";
import { useWindowRows } from "./window-rows";

/** A column of a table. */
export interface Column<Row> {
  /** Also names the order in the address. */
  name: string;
  header: string;
  cell: (row: Row) => ReactNode;
  align?: "start" | "end";
  /** A CSS length such as `8rem` or `30%`; columns without one share the rest. */
  width?: string;
  isSortable?: boolean;
  /** Position on phones: alone in the first line, in the second line, or hidden. */
  card?: "title" | "line" | "none";
}

/** The ticked rows. */
export interface Selection {
  ids: ReadonlySet<string>;
  onChange: (ids: ReadonlySet<string>) => void;
}

export interface TableProps<Row> {
  /** Names what the rows are. */
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  /** Returns the name of a row, for its menu and checkbox. */
  rowName: (row: Row) => string;
  /** Number of all rows; the loaded ones if unset. */
  total?: number;
  /** Name of the order; a leading `-` means descending. */
  sort?: string;
  onSort?: (sort: string) => void;
  /** Returns the actions of a row. */
  menu?: (row: Row) => readonly MenuItem[];
  /** Opens a row on a click or Enter. */
  onOpen?: (row: Row) => void;
  /** Actions of single keys on the focused row, as in `{ r: { label: "Retry", run: retry } }`. */
  keys?: Record<string, { label: string; run: (row: Row) => void }>;
  selection?: Selection;
  /** Called when the last loaded row becomes visible. */
  onEnd?: () => void;
  isLoading?: boolean;
  /** Shown if there are no rows. */
  empty: ReactNode;
  /** Height of a row and of a card, in rem. */
  rowRem?: number;
  cardRem?: number;
}

/**
 * A table of any length: only visible rows are in the page. On phones each row is a card of two lines with one menu. `j` and `k` move between
 * rows, Enter opens, `x` ticks, and `X` ticks all rows up to this one.
 */
export function Table<Row>(props: TableProps<Row>) {
  const isPhone = useIsPhone();
  if (props.isLoading && props.rows.length === 0) return <SkeletonRows />;
  if (props.rows.length === 0) return props.empty;
  return isPhone ? <CardRows {...props} /> : <TableRows {...props} />;
}

/** Focus, ticks and keys of rows, for both forms of the table. */
function useRowKeys<Row>(
  { rows, rowKey, onOpen, keys, selection }: TableProps<Row>,
  place: RefObject<HTMLElement | null>,
  scrollTo: (index: number) => void,
) {
  const lastTicked = useRef(0);
  const focused = useRef<number | null>(null);
  const wanted = useRef<number | null>(null);

  // If the focused row disappears, the row that takes its place gets the focus.
  useLayoutEffect(() => {
    const at = focused.current;
    if (at === null || document.activeElement !== document.body) return;
    place.current?.querySelector<HTMLElement>(`[data-row="${Math.min(at, rows.length - 1)}"]`)?.focus({ preventScroll: true });
  }, [rows, place]);

  // A row that is scrolled into view gets the focus once it is rendered.
  function focusWanted() {
    const row = wanted.current === null ? null : place.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
    if (!row) return;
    wanted.current = null;
    row.focus();
  }
  useLayoutEffect(focusWanted);

  function onFocus({ target }: FocusEvent<HTMLElement>) {
    wanted.current = null;
    focused.current = Number(target.closest<HTMLElement>("[data-row]")?.dataset.row ?? Number.NaN);
    if (Number.isNaN(focused.current)) focused.current = null;
  }

  function onBlur({ target }: FocusEvent<HTMLElement>) {
    requestAnimationFrame(() => {
      if (target.isConnected && !place.current?.contains(document.activeElement)) focused.current = null;
    });
  }

  function focusRow(index: number) {
    const target = Math.max(0, Math.min(rows.length - 1, index));
    scrollTo(target);
    wanted.current = target;
    focusWanted();
  }

  function tick(index: number, upTo: boolean) {
    if (!selection) return;
    const ids = new Set(selection.ids);
    const [from, to] = upTo ? [Math.min(index, lastTicked.current), Math.max(index, lastTicked.current)] : [index, index];
    const isOn = upTo || !ids.has(keyAt(index));
    for (let at = from; at <= to; at += 1) {
      if (isOn) ids.add(keyAt(at));
      else ids.delete(keyAt(at));
    }
    lastTicked.current = index;
    selection.onChange(ids);
  }

  function keyAt(index: number): string {
    const row = rows[index];
    return row === undefined ? "" : rowKey(row);
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    if (!(event.target instanceof HTMLElement) || event.target.dataset.row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const index = Number(event.target.dataset.row);
    const row = rows[index];
    if (row === undefined || (event.key.length === 1 && letterKeys.get() === "off")) return;
    const action = actionOf(event.key, index, row);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  function actionOf(key: string, index: number, row: Row): (() => void) | undefined {
    const own = keys?.[key];
    if (own) return () => own.run(row);
    if (key === "j" || key === "ArrowDown") return () => focusRow(index + 1);
    if (key === "k" || key === "ArrowUp") return () => focusRow(index - 1);
    if (key === "Enter" && onOpen) return () => onOpen(row);
    if ((key === "x" || key === "X") && selection) return () => tick(index, key === "X");
    return undefined;
  }

  useShortcut("j", "", () => focusRow(0), rows.length > 0);
  useKeyNotes([
    { keys: "j", label: t("key-next") },
    { keys: "k", label: t("key-previous") },
    ...(onOpen ? [{ keys: "Enter", label: t("key-open") }] : []),
    ...(selection ? [{ keys: "x", label: t("key-select") }, { keys: "Shift+x", label: t("key-select-to") }] : []),
    ...Object.entries(keys ?? {}).map(([key, { label }]) => ({ keys: /^[A-Z]$/.test(key) ? `Shift+${key.toLowerCase()}` : key, label })),
  ]);
  return { tick, handlers: { onKeyDown, onFocus, onBlur } };
}

function TableRows<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, rowName, total, sort, onSort, menu, onOpen, selection, onEnd, rowRem = 2.75 } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const { items, before, after, scrollTo } = useWindowRows(rows.length, rowRem, body, onEnd);
  const { tick, handlers } = useRowKeys(props, body, scrollTo);
  const width = columns.length + (selection ? 1 : 0) + (menu ? 1 : 0);
  return (
    <table
      aria-label={label}
      aria-rowcount={(total ?? rows.length) + 1}
      className="w-full table-fixed border-separate border-spacing-0"
      {...handlers}
    >
      <colgroup>
        {selection && <col className="w-11" />}
        {columns.map((column) => (
          <col key={column.name} style={column.width ? { width: column.width } : undefined} />
        ))}
        {menu && <col className="w-12" />}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {selection && (
            <HeaderCell isBox>
              <SelectAll rows={rows} rowKey={rowKey} selection={selection} />
            </HeaderCell>
          )}
          {columns.map((column) => (
            <ColumnHeader key={column.name} column={column} sort={sort} onSort={onSort} />
          ))}
          {menu && (
            <td className="sticky top-(--bar) z-10 h-9 border-b border-line bg-surface" />
          )}
        </tr>
      </thead>
      <tbody ref={body}>
        <Spacer height={before} width={width} />
        {items.map((index) => {
          const row = rows[index];
          if (row === undefined) return null;
          const key = rowKey(row);
          const isTicked = selection?.ids.has(key) ?? false;
          return (
            <tr
              key={key}
              data-row={index}
              tabIndex={-1}
              aria-rowindex={index + 2}
              aria-selected={selection ? isTicked : undefined}
              style={{ height: `${rowRem}rem` }}
              className={cx("group -outline-offset-2", isTicked ? "bg-accent-soft" : "hover:bg-hover focus:bg-hover", onOpen && "cursor-pointer")}
              onClick={(event) => {
                if (onOpen && !isControl(event.target)) onOpen(row);
              }}
            >
              {selection && (
                <td className="border-b border-line ps-3">
                  <Checkbox isOn={isTicked} label={t("select", { name: rowName(row) })} onChange={() => tick(index, false)} />
                </td>
              )}
              {columns.map((column) => (
                <td
                  key={column.name}
                  className={cx("truncate border-b border-line px-3", column.align === "end" && "text-end tabular-nums")}
                >
                  {column.cell(row)}
                </td>
              ))}
              {menu && (
                <td className="border-b border-line pe-2 text-end">
                  <Menu label={t("row-menu", { name: rowName(row) })} items={() => menu(row)} />
                </td>
              )}
            </tr>
          );
        })}
        <Spacer height={after} width={width} />
      </tbody>
    </table>
  );
}

function CardRows<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, rowName, total, menu, onOpen, selection, onEnd, cardRem = 4.25 } = props;
  const list = useRef<HTMLUListElement>(null);
  const { items, before, after, scrollTo } = useWindowRows(rows.length, cardRem, list, onEnd);
  const { tick, handlers } = useRowKeys(props, list, scrollTo);
  const title = columns.find((column) => column.card === "title") ?? columns[0];
  const line = columns.filter((column) => column !== title && column.card !== "none");
  return (
    <ul
      ref={list}
      aria-label={label}
      style={{ paddingBlock: `${before}px ${after}px` }}
      {...handlers}
    >
      {items.map((index) => {
        const row = rows[index];
        if (row === undefined) return null;
        const isTicked = selection?.ids.has(rowKey(row)) ?? false;
        return (
          <li
            key={rowKey(row)}
            data-row={index}
            tabIndex={-1}
            aria-posinset={index + 1}
            aria-setsize={total ?? rows.length}
            style={{ height: `${cardRem}rem` }}
            className={cx("flex items-center gap-2 border-b border-line ps-4 pe-1 -outline-offset-2", isTicked && "bg-accent-soft")}
            onClick={(event) => {
              if (onOpen && !isControl(event.target)) onOpen(row);
            }}
          >
            {selection && <Checkbox isOn={isTicked} label={t("select", { name: rowName(row) })} onChange={() => tick(index, false)} />}
            <div className="grid min-w-0 flex-1 gap-0.5">
              <div className="truncate font-medium">{title?.cell(row)}</div>
              {/* Facts that do not fit wrap into a hidden line, because one complete fact is worth more than three truncated ones. */}
              <div className="flex h-5 min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1 overflow-hidden text-sm whitespace-nowrap text-muted">
                {line.map((column) => (
                  <span key={column.name} className="max-w-full truncate empty:hidden">
                    {column.cell(row)}
                  </span>
                ))}
              </div>
            </div>
            {menu && <Menu label={t("row-menu", { name: rowName(row) })} items={() => menu(row)} />}
          </li>
        );
      })}
    </ul>
  );
}

function ColumnHeader<Row>({ column, sort, onSort }: { column: Column<Row>; sort: string | undefined; onSort: ((sort: string) => void) | undefined }) {
  const isUp = sort === column.name;
  const isDown = sort === `-${column.name}`;
  const isEnd = column.align === "end";
  return (
    <HeaderCell isEnd={isEnd} sort={isUp ? "ascending" : isDown ? "descending" : undefined}>
      {column.isSortable && onSort ? (
        <button
          type="button"
          title={t("sort-by", { column: column.header })}
          onClick={() => onSort(isUp ? `-${column.name}` : column.name)}
          className={cx("inline-flex h-8 max-w-full items-center gap-1 rounded-sm -outline-offset-2 hover:text-ink", (isUp || isDown) && "text-ink")}
        >
          <span className="truncate">{column.header}</span>
          {(isUp || isDown) && <Icon of={isUp ? ArrowUp : ArrowDown} size={12} />}
        </button>
      ) : (
        column.header
      )}
    </HeaderCell>
  );
}

function HeaderCell({ isEnd, isBox, sort, children }: { isEnd?: boolean; isBox?: boolean; sort?: "ascending" | "descending" | undefined; children: ReactNode }) {
  return (
    <th
      scope="col"
      aria-sort={sort}
      className={cx(
        "sticky top-(--bar) z-10 h-9 border-b border-line bg-surface text-xs font-medium text-muted",
        isBox ? "ps-3" : "truncate px-3",
        isEnd ? "text-end" : "text-start",
      )}
    >
      {children}
    </th>
  );
}

function SelectAll<Row>({ rows, rowKey, selection }: { rows: readonly Row[]; rowKey: (row: Row) => string; selection: Selection }) {
  const ticked = rows.filter((row) => selection.ids.has(rowKey(row))).length;
  return (
    <Checkbox
      isOn={ticked === rows.length}
      isMixed={ticked > 0 && ticked < rows.length}
      label={t("select-all")}
      onChange={(isOn) => selection.onChange(new Set(isOn ? rows.map(rowKey) : []))}
    />
  );
}

function Spacer({ height, width }: { height: number; width: number }) {
  return height > 0 ? (
    <tr aria-hidden style={{ height }}>
      <td colSpan={width} className="p-0" />
    </tr>
  ) : null;
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button, input, label, select, [role=menu]") !== null;
}

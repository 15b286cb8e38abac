import type { ReactNode } from "react";
import type { ApiProblem } from "@/lib/api-problem";
import { categoryName } from "@/lib/category";
import type { ListSelection } from "@/lib/selection";
import { Card } from "./card";
import { FilterBar } from "./filter-bar";
import { LoadFailure } from "./load-failure";
import { SearchField } from "./search-field";
import { SelectField } from "./select-field";
import { SelectionBar } from "./selection-bar";

/** A field for a filter or the order of a list. */
export interface Choice {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
}

interface ListFrameProps {
  search: { label: string; value: string; onChange: (value: string) => void };
  /** Filters; an empty value means no filter. */
  filters: readonly Choice[];
  sort: Choice;
  /** Removes all filters. */
  onClear: () => void;
  /** Next to the filters. */
  actions: ReactNode;
  list: { rows: readonly unknown[]; total: number; isLoading: boolean; problem: ApiProblem | null; refetch: () => void };
  /** Above the table if it has rows. */
  title: string;
  /** Next to the title. */
  titleActions?: ReactNode;
  table: ReactNode;
  selection: Pick<ListSelection<unknown>, "count" | "isAll" | "selectAll" | "clear">;
  /** Buttons that act on the ticked rows. */
  bulk: ReactNode;
}

/** The layout around the table of a list: search, filters, order, ticks and actions. */
export function ListFrame({ search, filters, sort, onClear, actions, list, title, titleActions, table, selection, bulk }: ListFrameProps) {
  const { rows, total, isLoading, problem, refetch } = list;
  return (
    <>
      <FilterBar
        search={<SearchField {...search} />}
        count={filters.filter(({ value }) => value !== "").length}
        onClear={onClear}
        actions={actions}
        filters={[...filters, sort].map((choice) => (
          <SelectField key={choice.label} isLabelHidden {...choice} />
        ))}
      />
      {problem && rows.length > 0 && <LoadFailure isLine problem={problem} onRetry={refetch} />}
      <Card isFlush title={isLoading || total === 0 ? undefined : title} actions={titleActions}>
        {problem && rows.length === 0 ? <LoadFailure problem={problem} onRetry={refetch} /> : table}
      </Card>
      <SelectionBar count={selection.count} total={total} isAll={selection.isAll} onAll={selection.selectAll} onClear={selection.clear}>
        {bulk}
      </SelectionBar>
    </>
  );
}

/** Returns the options of a filter for categories, with one for no filter. */
export function choicesOf(none: string, names: readonly string[]): Choice["options"] {
  return [{ value: "", label: none }, ...names.map((name) => ({ value: name, label: categoryName(name) }))];
}

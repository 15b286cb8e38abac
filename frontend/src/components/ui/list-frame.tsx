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

/** A field that chooses what the list shows, or its order. */
export interface Choice {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
}

interface ListFrameProps {
  search: { label: string; value: string; onChange: (value: string) => void };
  /** Filters, of which an empty value chooses nothing. */
  filters: readonly Choice[];
  sort: Choice;
  /** Takes all filters away. */
  onClear: () => void;
  /** Beside the filters. */
  actions: ReactNode;
  list: { rows: readonly unknown[]; total: number; isLoading: boolean; problem: ApiProblem | null; refetch: () => void };
  /** Over the table, once there is a row. */
  title: string;
  /** Beside the title. */
  titleActions?: ReactNode;
  table: ReactNode;
  selection: Pick<ListSelection<unknown>, "count" | "isAll" | "selectAll" | "clear">;
  /** Buttons that act on what is ticked. */
  bulk: ReactNode;
}

/** What stands around the table of a list that is searched, filtered, ticked and acted on. */
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

/** The options of a filter that chooses one of some categories, or none. */
export function choicesOf(none: string, names: readonly string[]): Choice["options"] {
  return [{ value: "", label: none }, ...names.map((name) => ({ value: name, label: categoryName(name) }))];
}

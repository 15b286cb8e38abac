import { X } from "lucide-react";
import { FilterBar } from "@/components/ui/filter-bar";
import { Icon } from "@/components/ui/icon";
import { SearchField } from "@/components/ui/search-field";
import { SelectField } from "@/components/ui/select-field";
import { t } from "../en";
import { type LogFilter, type LogFilters, levels } from "../lines";

interface LineFiltersProps {
  filters: LogFilters;
  /** Parts of the server that have logged lines. */
  sources: readonly string[];
  onChange: (name: LogFilter, value: string) => void;
  onClear: () => void;
}

/** The filters of the log. */
export function LineFilters({ filters, sources, onChange, onClear }: LineFiltersProps) {
  return (
    <div className="grid gap-2">
      <FilterBar
        search={<SearchField label={t("search")} value={filters.q ?? ""} onChange={(q) => onChange("q", q)} />}
        filters={<Choices filters={filters} sources={sources} onChange={onChange} />}
        count={[filters.level, filters.source].filter(Boolean).length}
        onClear={onClear}
      />
      <Chips filters={filters} onChange={onChange} />
    </div>
  );
}

function Choices({ filters, sources, onChange }: Omit<LineFiltersProps, "onClear">) {
  const named = filters.source && !sources.includes(filters.source) ? [...sources, filters.source] : sources;
  return (
    <>
      <SelectField
        label={t("level")}
        isLabelHidden
        value={filters.level ?? ""}
        onChange={(level) => onChange("level", level)}
        options={[
          { value: "", label: t("all-levels") },
          ...levels.slice(1).map((level) => ({ value: level as string, label: t("at-least", { level: t(`level.${level}`) }) })),
        ]}
      />
      <SelectField
        label={t("source")}
        isLabelHidden
        value={filters.source ?? ""}
        onChange={(source) => onChange("source", source)}
        options={[{ value: "", label: t("all-sources") }, ...named.map((source) => ({ value: source, label: source }))]}
      />
    </>
  );
}

/** The filters that links have set, each with a button that removes it. */
function Chips({ filters, onChange }: Pick<LineFiltersProps, "filters" | "onChange">) {
  const set = (["job", "stream"] as const).filter((name) => filters[name]);
  if (set.length === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {set.map((name) => {
        const label = t(name, { id: filters[name] ?? "" });
        return (
          <button
            key={name}
            type="button"
            aria-label={t("remove-filter", { name: label })}
            onClick={() => onChange(name, "")}
            className="inline-flex h-7 max-w-full items-center gap-1.5 rounded-full bg-accent-soft px-3 text-sm text-accent hover:underline touch:h-11"
          >
            <span className="truncate">{label}</span>
            <Icon of={X} size={14} />
          </button>
        );
      })}
    </div>
  );
}

import { Search, SlidersHorizontal, X } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import { Button } from "@/components/ui/button";
import { Sheet } from "@/components/ui/dialog";
import { Icon } from "@/components/ui/icon";
import { SelectField } from "@/components/ui/select-field";
import { TextField } from "@/components/ui/text-field";
import { useIsPhone } from "@/lib/media";
import { t } from "../en";
import { type LogFilter, type LogFilters, levels } from "../lines";

interface LineFiltersProps {
  filters: LogFilters;
  /** Parts of the server that have lines. */
  sources: readonly string[];
  onChange: (name: LogFilter, value: string) => void;
  onClear: () => void;
}

/** Which lines are shown; on phones behind a button. */
export function LineFilters({ filters, sources, onChange, onClear }: LineFiltersProps) {
  const isPhone = useIsPhone();
  const [isOpen, setOpen] = useState(false);
  const chosen = [filters.level, filters.source].filter(Boolean).length;
  const fields = <Choices filters={filters} sources={sources} onChange={onChange} />;
  return (
    <div className="grid gap-2">
      <div className="flex items-end gap-2">
        <SearchBox value={filters.q ?? ""} onChange={(q) => onChange("q", q)} />
        {isPhone ? (
          <Button icon={SlidersHorizontal} onClick={() => setOpen(true)}>
            {chosen > 0 ? t("filters-on", { count: chosen }) : t("filters")}
          </Button>
        ) : (
          fields
        )}
      </div>
      <Chips filters={filters} onChange={onChange} onClear={onClear} />
      {isPhone && (
        <Sheet
          isOpen={isOpen}
          onClose={() => setOpen(false)}
          title={t("filters")}
          footer={
            <Button tone="accent" onClick={() => setOpen(false)}>
              {t("done")}
            </Button>
          }
        >
          <div className="grid gap-4">{fields}</div>
        </Sheet>
      )}
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
        className="md:w-52"
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
        className="md:w-44"
        value={filters.source ?? ""}
        onChange={(source) => onChange("source", source)}
        options={[{ value: "", label: t("all-sources") }, ...named.map((source) => ({ value: source, label: source }))]}
      />
    </>
  );
}

const typingMs = 250;

/** The field follows the address, and the address the field once no more is typed. */
function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  const settle = useEffectEvent(() => {
    if (typed !== value) onChange(typed);
  });
  useEffect(() => {
    const timer = setTimeout(settle, typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <TextField
      type="search"
      label={t("search")}
      isLabelHidden
      placeholder={t("search-hint")}
      className="min-w-0 flex-1"
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      suffix={typed === "" && <Icon of={Search} className="me-2 text-muted" />}
    />
  );
}

/** The filters that links have set. */
function Chips({ filters, onChange, onClear }: Omit<LineFiltersProps, "sources">) {
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
      <Button tone="quiet" size="sm" onClick={onClear}>
        {t("clear-filters")}
      </Button>
    </div>
  );
}

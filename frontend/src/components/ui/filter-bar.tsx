import { SlidersHorizontal } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useIsPhone } from "@/lib/media";
import { Button } from "./button";
import { Sheet } from "./dialog";
import { t } from "./en";

interface FilterBarProps {
  /** The search field, always visible. */
  search: ReactNode;
  /** The filter fields, which open in a sheet on phones; null if the list has none. */
  filters: ReactNode;
  /** Number of filters that are set. */
  count: number;
  onClear: () => void;
  /** At the end, always visible. */
  actions?: ReactNode;
}

/** The bar above a list: search, filters, and actions on the whole list. */
export function FilterBar({ search, filters, count, onClear, actions }: FilterBarProps) {
  const isPhone = useIsPhone();
  const [isOpen, setOpen] = useState(false);
  if (isPhone) {
    return (
      <div className="flex min-w-0 items-center gap-2">
        <div className="min-w-0 flex-1">{search}</div>
        {filters !== null && (
          <Button icon={SlidersHorizontal} aria-label={count > 0 ? t("filters-set", { count }) : t("filters")} onClick={() => setOpen(true)}>
            {count > 0 ? <span className="tabular-nums">{count}</span> : null}
          </Button>
        )}
        {actions}
        <Sheet
          isOpen={isOpen}
          onClose={() => setOpen(false)}
          title={t("filters")}
          footer={
            <>
              {count > 0 && (
                <Button tone="quiet" onClick={onClear}>
                  {t("clear-filters")}
                </Button>
              )}
              <Button tone="accent" onClick={() => setOpen(false)}>
                {t("show-rows")}
              </Button>
            </>
          }
        >
          <div className="grid gap-4">{filters}</div>
        </Sheet>
      </div>
    );
  }
  return (
    <div className="flex min-w-0 flex-wrap items-end gap-2">
      <div className="min-w-40 flex-1 basis-44">{search}</div>
      <div className="contents [&>*]:w-36">{filters}</div>
      {count > 0 && (
        <Button tone="quiet" onClick={onClear}>
          {t("clear-filters")}
        </Button>
      )}
      {actions}
    </div>
  );
}

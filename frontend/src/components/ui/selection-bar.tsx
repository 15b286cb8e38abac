import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button, IconButton } from "./button";
import { t } from "./en";

interface SelectionBarProps {
  /** Number of ticked rows; of all matching rows if `isAll` is set. */
  count: number;
  /** Number of matching rows, loaded or not. */
  total: number;
  isAll: boolean;
  onAll: () => void;
  onClear: () => void;
  /** Buttons that act on the ticked rows. */
  children: ReactNode;
}

/** Actions on the ticked rows, at the lower edge of the window while there are any. */
export function SelectionBar({ count, total, isAll, onAll, onClear, children }: SelectionBarProps) {
  if (count === 0) return null;
  return (
    <section
      aria-label={t("selection")}
      className="sticky bottom-[calc(var(--tabs)+0.75rem)] z-20 mt-3 flex animate-rise flex-wrap items-center gap-x-2 gap-y-2 rounded-xl bg-raised px-3 py-2 shadow-float"
    >
      <IconButton icon={X} label={t("clear-selection")} onClick={onClear} />
      <div className="me-auto flex min-w-0 flex-1 basis-56 flex-wrap items-center gap-x-2">
        <p role="status" className="font-medium tabular-nums">
          {isAll ? t("selected-all", { count }) : t("selected", { count })}
        </p>
        {!isAll && total > count && (
          <Button tone="quiet" size="sm" onClick={onAll}>
            {t("select-matching", { count: total })}
          </Button>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-2 max-sm:w-full max-sm:*:flex-1">{children}</div>
    </section>
  );
}

import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Icon } from "@/components/ui/icon";

/** A row of a card whose columns line up with those of the other cards. */
export const rowClass =
  "grid items-center gap-x-6 gap-y-3 border-t border-line px-4 py-3.5 md:grid-cols-2 xl:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_minmax(0,1.5fr)_auto]";

/** Shown in a card without rows: the reason, and what to do next. */
export function Vacant({ icon, title, action, children }: { icon: LucideIcon; title: string; action: ReactNode; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-3 px-4 pt-1 pb-4">
      <span className="flex size-10 items-center justify-center rounded-lg border border-line bg-sunken text-muted">
        <Icon of={icon} size={18} />
      </span>
      <div className="min-w-0 flex-1 basis-48">
        <p className="font-medium">{title}</p>
        <p className="text-muted text-pretty">{children}</p>
      </div>
      {action}
    </div>
  );
}

/** A figure below its name. */
export function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div className="min-w-0">
      <dt className="truncate text-xs text-muted">{label}</dt>
      <dd className="whitespace-nowrap tabular-nums">{value}</dd>
    </div>
  );
}

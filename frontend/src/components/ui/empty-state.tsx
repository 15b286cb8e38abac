import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Icon } from "./icon";

interface EmptyStateProps {
  icon?: LucideIcon;
  title: string;
  /** Explains what to do. */
  children?: ReactNode;
  actions?: ReactNode;
}

/** Shown instead of empty content: the reason, and what to do next. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-14 text-center">
      {icon && (
        <span className="mb-2 flex size-12 items-center justify-center rounded-xl border border-line bg-sunken text-muted">
          <Icon of={icon} size={22} />
        </span>
      )}
      <p className="text-lg font-semibold text-balance">{title}</p>
      {children && <div className="text-muted text-pretty wrap-anywhere">{children}</div>}
      {actions && <div className="mt-3 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}

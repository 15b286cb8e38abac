import { type ReactNode, useId } from "react";
import { cx } from "@/lib/cx";

interface CardProps {
  /** Shown as an h2. */
  title?: string;
  /** Next to the title. */
  actions?: ReactNode;
  /** Removes the space between border and content, for example around tables. */
  isFlush?: boolean;
  className?: string;
  children: ReactNode;
}

/** A part of a page on a background of its own. */
export function Card({ title, actions, isFlush = false, className, children }: CardProps) {
  const id = useId();
  return (
    <section aria-labelledby={title ? id : undefined} className={cx("min-w-0 rounded-xl border border-line bg-surface shadow-card", isFlush && "overflow-clip", className)}>
      {(title || actions) && (
        <header className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-2 px-4 pt-2">
          {title && (
            <h2 id={id} className="me-auto text-base font-semibold">
              {title}
            </h2>
          )}
          {actions}
        </header>
      )}
      <div className={isFlush ? "" : cx("px-4 pb-4", title || actions ? "pt-1" : "pt-4")}>{children}</div>
    </section>
  );
}

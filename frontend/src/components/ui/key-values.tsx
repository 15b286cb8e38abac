import type { ReactNode } from "react";

/** A list of facts and their labels. Facts without a value are left out. */
export function KeyValues({ items }: { items: readonly { label: string; value: ReactNode }[] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {items
        .filter((item) => item.value !== null && item.value !== undefined && item.value !== "")
        .map((item) => (
          <div key={item.label} className="contents">
            <dt className="text-muted">{item.label}</dt>
            <dd className="min-w-0 wrap-anywhere tabular-nums">{item.value}</dd>
          </div>
        ))}
    </dl>
  );
}

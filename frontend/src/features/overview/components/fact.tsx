/** A row of a card whose columns stand below each other with those of the other cards. */
export const rowClass =
  "grid items-center gap-x-6 gap-y-3 border-t border-line px-4 py-3.5 md:grid-cols-2 xl:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_minmax(0,1.5fr)_auto]";

/** A figure with its name above it. */
export function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div className="min-w-0">
      <dt className="truncate text-xs text-muted">{label}</dt>
      <dd className="whitespace-nowrap tabular-nums">{value}</dd>
    </div>
  );
}

import { cx } from "@/lib/cx";
import { t } from "./en";

/** A gray placeholder for loading content; hidden from screen readers. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx("animate-breathe rounded-md bg-hover", className)} />;
}

/** Placeholders for loading rows, announced once. */
export function SkeletonRows({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" className="grid gap-2 p-4">
      <span className="sr-only">{t("loading")}</span>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} className="h-8" />
      ))}
    </div>
  );
}

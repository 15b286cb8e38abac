import type { LucideIcon } from "lucide-react";
import { cx } from "@/lib/cx";

/** An icon next to a text; hidden from screen readers. */
export function Icon({ of: Drawing, size = 16, className }: { of: LucideIcon; size?: number; className?: string }) {
  return <Drawing aria-hidden size={size} strokeWidth={1.75} className={cx("shrink-0", className)} />;
}

import { cx } from "@/lib/cx";

/** A path, a key or a command inside a sentence. */
export function Code({ children, className }: { children: string; className?: string }) {
  return <code className={cx("rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.92em] wrap-anywhere", className)}>{children}</code>;
}

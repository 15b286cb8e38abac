import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "@/lib/cx";
import { Icon } from "./icon";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "bad";

const tones: Record<Tone, string> = {
  neutral: "bg-sunken text-muted",
  accent: "bg-accent-soft text-accent",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
};

/** A word on a colored background. The word says what the color means. */
export function Badge({ tone = "neutral", icon, children }: { tone?: Tone; icon?: LucideIcon; children: ReactNode }) {
  return (
    <span className={cx("inline-flex h-5 max-w-full items-center gap-1 rounded-sm px-1.5 text-xs font-medium whitespace-nowrap", tones[tone])}>
      {icon && <Icon of={icon} size={12} />}
      <span className="truncate">{children}</span>
    </span>
  );
}

const dots: Record<Tone, string> = { neutral: "bg-line-strong", accent: "bg-accent", ok: "bg-ok", warn: "bg-warn", bad: "bg-bad" };

/** A colored dot next to a word; hidden from screen readers. */
export function Dot({ tone = "neutral" }: { tone?: Tone }) {
  return <span aria-hidden className={cx("inline-block size-2 shrink-0 rounded-full", dots[tone])} />;
}

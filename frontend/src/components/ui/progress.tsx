import { cx } from "@/lib/cx";
import type { Tone } from "./badge";

const tones: Record<Tone, string> = { neutral: "bg-line-strong", accent: "bg-accent-fill", ok: "bg-ok", warn: "bg-warn", bad: "bg-bad" };

interface ProgressProps {
  label: string;
  /** 0 to 100; null if unknown. */
  percent: number | null;
  tone?: Tone;
  className?: string;
}

export function Progress({ label, percent, tone = "accent", className }: ProgressProps) {
  const width = percent === null ? 100 : Math.max(0, Math.min(100, percent));
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent === null ? undefined : Math.round(width)}
      className={cx("h-1.5 min-w-8 overflow-hidden rounded-full bg-sunken", className)}
    >
      <div
        className={cx("h-full rounded-full", tones[tone], percent === null && "animate-breathe")}
        style={{ width: `${width}%` }}
      />
    </div>
  );
}

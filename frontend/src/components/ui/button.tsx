import type { LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode, Ref } from "react";
import { Link } from "react-router";
import { cx } from "@/lib/cx";
import { Icon } from "./icon";
import { Spinner } from "./spinner";

export type ButtonTone = "plain" | "accent" | "quiet" | "danger";

const base =
  "relative inline-flex items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap max-sm:whitespace-normal select-none transition-colors duration-100 " +
  "disabled:opacity-50 disabled:cursor-not-allowed touch:min-h-11 touch:min-w-11";

const tones: Record<ButtonTone, string> = {
  plain: "bg-raised text-ink border border-line shadow-card enabled:hover:bg-hover [a]:hover:bg-hover",
  accent: "bg-accent-fill text-accent-ink enabled:hover:bg-accent-fill-hover [a]:hover:bg-accent-fill-hover",
  quiet: "text-muted enabled:hover:bg-hover enabled:hover:text-ink [a]:hover:bg-hover [a]:hover:text-ink",
  danger: "bg-bad-fill text-[#fff] enabled:hover:brightness-110",
};

const sizes = { sm: "min-h-7 px-2.5 text-sm", md: "min-h-8.5 px-3 text-base", lg: "min-h-10 px-4 text-base" };

/** Returns the classes of a button, for other elements that look like one. */
export function buttonClass(tone: ButtonTone = "plain", size: keyof typeof sizes = "md", className?: string): string {
  return cx(base, tones[tone], sizes[size], className);
}

interface ButtonProps extends Omit<ComponentProps<"button">, "children"> {
  children: ReactNode;
  tone?: ButtonTone;
  size?: keyof typeof sizes;
  icon?: LucideIcon;
  /** Shows a spinner and disables the button. */
  isBusy?: boolean;
}

/** A button with a text. */
export function Button({ tone, size, icon, isBusy = false, disabled, className, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} disabled={disabled || isBusy} aria-busy={isBusy || undefined} className={buttonClass(tone, size, className)}>
      {isBusy ? <Spinner /> : icon && <Icon of={icon} />}
      {children}
    </button>
  );
}

/** A link of the app that looks like a button. */
export function ButtonLink({ tone, size, icon, className, children, ...rest }: ComponentProps<typeof Link> & Pick<ButtonProps, "tone" | "size" | "icon">) {
  return (
    <Link {...rest} className={buttonClass(tone, size, className)}>
      {icon && <Icon of={icon} />}
      {children}
    </Link>
  );
}

interface IconButtonProps extends Omit<ComponentProps<"button">, "children" | "aria-label"> {
  /** The action of the button; also its tooltip. */
  label: string;
  icon: LucideIcon;
  tone?: ButtonTone;
  size?: "sm" | "md";
  ref?: Ref<HTMLButtonElement>;
}

/** A button with an icon instead of a text. */
export function IconButton({ label, icon, tone = "quiet", size = "md", className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={cx(base, tones[tone], size === "sm" ? "size-7" : "size-8.5", className)}
    >
      <Icon of={icon} size={size === "sm" ? 16 : 18} />
    </button>
  );
}

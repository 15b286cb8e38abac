import type { LucideIcon } from "lucide-react";

/** An entry of a menu. */
export interface MenuItem {
  label: string;
  icon?: LucideIcon;
  onSelect: () => void;
  tone?: "danger";
  isDisabled?: boolean;
  /** A tick before it, for one choice of several. */
  isChosen?: boolean;
  /** A line above it. */
  startsGroup?: boolean;
}

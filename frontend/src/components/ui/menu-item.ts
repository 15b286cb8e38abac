import type { LucideIcon } from "lucide-react";

/** An entry of a menu. */
export interface MenuItem {
  label: string;
  icon?: LucideIcon;
  onSelect: () => void;
  tone?: "danger";
  isDisabled?: boolean;
  /** Shows a tick, for the chosen one of several options. */
  isChosen?: boolean;
  /** Shows a line above it. */
  startsGroup?: boolean;
}

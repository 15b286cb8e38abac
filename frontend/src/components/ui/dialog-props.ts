import type { ReactNode } from "react";

/** Properties of dialogs and sheets. */
export interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** Shows the title to screen readers only. */
  isTitleHidden?: boolean;
  /** A sentence below the title. */
  description?: string;
  /** `full` fills the window except for a margin. */
  size?: "sm" | "md" | "lg" | "full";
  /** Buttons at the end; the main action comes last. */
  footer?: ReactNode;
  children?: ReactNode;
}

import type { ReactNode } from "react";

/** What a window over the page, or at its side, is given. */
export interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** Keeps the title for screen readers alone. */
  isTitleHidden?: boolean;
  /** A sentence below the title. */
  description?: string;
  /** `full` takes the whole window but for a margin. */
  size?: "sm" | "md" | "lg" | "full";
  /** Buttons at the end; the one that does it comes last. */
  footer?: ReactNode;
  children?: ReactNode;
}

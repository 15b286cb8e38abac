import { type ReactNode, Suspense, lazy } from "react";

const DialogBody = lazy(() => import("./dialog-body").then((module) => ({ default: module.DialogBody })));

export interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** Keeps the title for screen readers alone. */
  isTitleHidden?: boolean;
  /** A sentence below the title. */
  description?: string;
  size?: "sm" | "md" | "lg";
  /** Buttons at the end; the one that does it comes last. */
  footer?: ReactNode;
  children?: ReactNode;
}

/** A window over the page, loaded with its first use. On phones it comes up from the lower edge. */
export function Dialog(props: DialogProps) {
  return props.isOpen ? (
    <Suspense fallback={null}>
      <DialogBody {...props} kind="dialog" />
    </Suspense>
  ) : null;
}

/** The same at the side of the page, for filters and details; on phones from the lower edge. */
export function Sheet(props: DialogProps) {
  return props.isOpen ? (
    <Suspense fallback={null}>
      <DialogBody {...props} kind="sheet" />
    </Suspense>
  ) : null;
}

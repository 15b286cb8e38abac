import { Suspense, lazy } from "react";
import type { DialogProps } from "./dialog-props";

const DialogBody = lazy(() => import("./dialog-body").then((module) => ({ default: module.DialogBody })));

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

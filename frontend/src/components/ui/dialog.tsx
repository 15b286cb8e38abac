import type { DialogProps } from "./dialog-props";
import { late } from "./late";

const DialogBody = late(async () => (await import("./dialog-body")).DialogBody);

/** A dialog over the page, loaded on first use. On phones it rises from the lower edge. */
export function Dialog(props: DialogProps) {
  return props.isOpen ? <DialogBody {...props} kind="dialog" /> : null;
}

/** A dialog at the side of the page, for filters and details. On phones it rises from the lower edge. */
export function Sheet(props: DialogProps) {
  return props.isOpen ? <DialogBody {...props} kind="sheet" /> : null;
}

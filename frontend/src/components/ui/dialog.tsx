import type { DialogProps } from "./dialog-props";
import { late } from "./late";

const DialogBody = late(async () => (await import("./dialog-body")).DialogBody);

/** A window over the page, loaded with its first use. On phones it comes up from the lower edge. */
export function Dialog(props: DialogProps) {
  return props.isOpen ? <DialogBody {...props} kind="dialog" /> : null;
}

/** The same at the side of the page, for filters and details; on phones from the lower edge. */
export function Sheet(props: DialogProps) {
  return props.isOpen ? <DialogBody {...props} kind="sheet" /> : null;
}

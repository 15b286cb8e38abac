import { type ReactNode, useState } from "react";
import { late } from "./late";

const TooltipBody = late(async () => (await import("./tooltip-body")).TooltipBody);

/** A text about the element under the pointer or focus. It must be available elsewhere too, because phones have no pointer. */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <span
      className="relative inline-flex"
      onPointerEnter={(event) => event.pointerType === "mouse" && setOpen(true)}
      onPointerLeave={() => setOpen(false)}
      onFocus={() => setOpen(true)}
      onBlur={() => setOpen(false)}
      onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
    >
      {children}
      {isOpen && <TooltipBody text={text} />}
    </span>
  );
}

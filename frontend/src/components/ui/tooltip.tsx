import { type ReactNode, Suspense, lazy, useState } from "react";

const TooltipBody = lazy(() => import("./tooltip-body").then((module) => ({ default: module.TooltipBody })));

/** Words about something that the pointer or the focus is on. They repeat what can be read or heard elsewhere: phones have no pointer. */
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
      {isOpen && (
        <Suspense fallback={null}>
          <TooltipBody text={text} />
        </Suspense>
      )}
    </span>
  );
}

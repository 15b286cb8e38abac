import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Icon } from "./icon";

interface DisclosureProps {
  title: string;
  /** Set if the parent controls the state; otherwise the browser keeps it. */
  isOpen?: boolean;
  onToggle?: (isOpen: boolean) => void;
  children: ReactNode;
}

/** A line that shows and hides the content below it. */
export function Disclosure({ title, isOpen, onToggle, children }: DisclosureProps) {
  return (
    <details open={isOpen} onToggle={onToggle && ((event) => onToggle(event.currentTarget.open))} className="group/disclosure">
      <summary className="flex min-h-8 w-fit items-center gap-1.5 rounded-md text-sm font-medium text-muted hover:text-ink touch:min-h-11">
        <Icon of={ChevronRight} className="transition-transform group-open/disclosure:rotate-90 rtl:rotate-180 rtl:group-open/disclosure:rotate-90" />
        {title}
      </summary>
      {children}
    </details>
  );
}

import { Check } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { Fragment, type RefObject } from "react";
import { cx } from "@/lib/cx";
import { Icon } from "./icon";
import type { MenuItem } from "./menu-item";

interface MenuBodyProps {
  label: string;
  items: readonly MenuItem[];
  align: "start" | "end";
  place: RefObject<HTMLSpanElement | null>;
  onClose: () => void;
}

/** The open list. It is anchored to an empty box over the button, which exists before this part is loaded. */
export function MenuBody({ label, items, align, place, onClose }: MenuBodyProps) {
  return (
    <DropdownMenu.Root open modal={false} onOpenChange={(isOpen) => !isOpen && onClose()} dir={document.dir === "rtl" ? "rtl" : "ltr"}>
      <DropdownMenu.Trigger asChild>
        <span aria-hidden className="pointer-events-none absolute inset-0" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          aria-label={label}
          aria-labelledby={undefined}
          align={align}
          sideOffset={6}
          collisionPadding={8}
          onInteractOutside={(event) => {
            // Not here, because the click on the button closes the menu already.
            if (event.target instanceof Node && place.current?.contains(event.target)) event.preventDefault();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            place.current?.querySelector("button")?.focus();
          }}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) max-w-80 min-w-44 animate-rise overflow-y-auto rounded-lg bg-raised p-1 shadow-float outline-none"
        >
          {items.map((item, index) => (
            <Fragment key={item.label}>
              {item.startsGroup && index > 0 && <DropdownMenu.Separator className="mx-2 my-1 h-px bg-line" />}
              <DropdownMenu.Item
                disabled={item.isDisabled}
                onSelect={item.onSelect}
                className={cx(
                  "flex min-h-8 items-center gap-2.5 rounded-md px-2.5 py-1 outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover touch:min-h-11",
                  item.tone === "danger" ? "text-bad" : "text-ink",
                )}
              >
                {item.icon && <Icon of={item.icon} className={item.tone === "danger" ? "" : "text-muted"} />}
                <span className="min-w-0 flex-1">{item.label}</span>
                {item.isChosen && <Icon of={Check} className="text-accent" />}
              </DropdownMenu.Item>
            </Fragment>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

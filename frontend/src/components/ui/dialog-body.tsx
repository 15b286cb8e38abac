import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import { useState } from "react";
import { cx } from "@/lib/cx";
import { IconButton } from "./button";
import type { DialogProps } from "./dialog-props";
import { t } from "./en";

const widths = { sm: "sm:max-w-md", md: "sm:max-w-xl", lg: "sm:max-w-4xl", full: "sm:max-w-[120rem]" };

const places = {
  dialog:
    "inset-x-0 bottom-0 max-h-[92dvh] rounded-t-xl pb-[env(safe-area-inset-bottom)] animate-sheet sm:inset-auto sm:left-1/2 " +
    "sm:w-[calc(100%-2rem)] sm:-translate-x-1/2 sm:rounded-xl sm:animate-fade",
  sheet:
    "inset-x-0 bottom-0 max-h-[92dvh] rounded-t-xl pb-[env(safe-area-inset-bottom)] animate-sheet sm:inset-y-0 sm:start-auto sm:end-0 " +
    "sm:max-h-none sm:w-full sm:rounded-none sm:animate-fade",
};

/** The dialog itself. It keeps the focus while open, and returns it on closing. */
export function DialogBody({
  kind, onClose, title, isTitleHidden, description, size = "md", footer, children,
}: DialogProps & { kind: keyof typeof places }) {
  const [before] = useState(() => document.activeElement);
  return (
    <Primitive.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 animate-fade bg-[rgb(5_9_16/0.5)]" />
        <Primitive.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (before instanceof HTMLElement) before.focus();
          }}
          className={cx("fixed z-50 flex flex-col bg-raised shadow-float outline-none", places[kind], kind === "dialog" && (size === "full" ? "sm:top-[3dvh] sm:max-h-[94dvh]" : "sm:top-[12dvh] sm:max-h-[80dvh]"), widths[size])}
        >
          <header className={cx("flex items-start gap-3 ps-5 pe-3 pt-3.5", isTitleHidden && "sr-only")}>
            <div className="min-w-0 flex-1 pt-1">
              <Primitive.Title className="text-lg font-semibold wrap-anywhere">{title}</Primitive.Title>
              {description && <Primitive.Description className="mt-1 text-muted">{description}</Primitive.Description>}
            </div>
            <IconButton icon={X} label={t("close")} onClick={onClose} />
          </header>
          <div className={cx("min-h-0 flex-1 overflow-y-auto", isTitleHidden ? "" : "px-5 py-4")}>{children}</div>
          {footer && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

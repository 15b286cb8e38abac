import { Tooltip } from "radix-ui";

/** The text itself, anchored to an empty box as large as its subject. */
export function TooltipBody({ text }: { text: string }) {
  return (
    <Tooltip.Provider>
      <Tooltip.Root open>
        <Tooltip.Trigger asChild>
          <span aria-hidden className="pointer-events-none absolute inset-0" />
        </Tooltip.Trigger>
        <Tooltip.Portal>
          <Tooltip.Content
            sideOffset={6}
            collisionPadding={8}
            className="pointer-events-none z-50 max-w-72 animate-fade rounded-md bg-ink px-2 py-1 text-xs text-canvas"
          >
            {text}
          </Tooltip.Content>
        </Tooltip.Portal>
      </Tooltip.Root>
    </Tooltip.Provider>
  );
}

let open: () => void = () => undefined;

/** Opens the list of shortcuts from anywhere. */
export function openShortcuts(): void {
  open();
}

/** Sets the handler that opens it. */
export function onOpenShortcuts(handler: () => void): void {
  open = handler;
}

let open: () => void = () => undefined;

/** Shows the list of shortcuts, wherever it is asked for. */
export function openShortcuts(): void {
  open();
}

/** Says who shows it. */
export function onOpenShortcuts(handler: () => void): void {
  open = handler;
}

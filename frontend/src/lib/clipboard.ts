/**
 * Copies a text to the clipboard. Plain HTTP has no `navigator.clipboard`, so there the text is copied from a hidden field.
 * @returns Whether it succeeded; if not, the page shows the text selected.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (window.isSecureContext) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Refused, for example in a frame without the permission. The fallback may still work.
  }
  return copyByField(text);
}

function copyByField(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.style.cssText = "position:fixed;inset-block-start:0;opacity:0";
  // Inside an open dialog, because focus cannot leave it.
  const home = before?.closest("[role=dialog]") ?? document.body;
  home.append(field);
  field.focus();
  field.select();
  try {
    return document.execCommand("copy");
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}

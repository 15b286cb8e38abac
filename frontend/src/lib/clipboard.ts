/**
 * Puts a text into the clipboard. Plain HTTP has no `navigator.clipboard`; there a hidden field is copied from.
 * @returns Whether it is there; where not, the page shows the text selected.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (window.isSecureContext) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Refused, as in a frame without the permission: the old way may still work.
  }
  return copyByField(text);
}

function copyByField(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.style.cssText = "position:fixed;inset-block-start:0;opacity:0";
  // Inside an open dialog, since focus cannot leave it.
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

import { server } from "./server-watch";

const typed = new Set<HTMLInputElement | HTMLTextAreaElement>();

/** Keeps the tab from being loaded again by itself while text that was typed would be lost. The answer ends that. */
export function keepTypedText(): () => void {
  const remember = ({ target, isTrusted }: Event) => {
    // Searches are in the address.
    const isField = (target instanceof HTMLInputElement && target.type !== "search") || target instanceof HTMLTextAreaElement;
    if (isTrusted && isField) typed.add(target);
  };
  window.addEventListener("input", remember);
  const release = server.hold(() => [...typed].some((field) => field.isConnected && field.value !== ""));
  return () => {
    window.removeEventListener("input", remember);
    release();
  };
}

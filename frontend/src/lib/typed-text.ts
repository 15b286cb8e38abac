import { server } from "./server-watch";

const typed = new Set<HTMLInputElement | HTMLTextAreaElement>();

/** Prevents automatic reloads while typed text would be lost. Returns a function that ends this. */
export function keepTypedText(): () => void {
  const remember = ({ target, isTrusted }: Event) => {
    // Search fields are skipped, because the address keeps their text over a reload.
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

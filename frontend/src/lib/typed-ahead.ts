/** How long a field may take to come; whoever types for longer is typing for something else. */
const mostMs = 10_000;

let kept = "";
let stop: AbortController | null = null;

/** Keeps what is typed while the field that it is meant for is being loaded. Until then no key does anything else. */
export function keepTyping(): void {
  takeTyped();
  const { signal } = (stop = new AbortController());
  const timer = setTimeout(takeTyped, mostMs);
  signal.addEventListener("abort", () => clearTimeout(timer));
  window.addEventListener("pointerdown", takeTyped, { signal });
  window.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" || event.key === "Tab") return void takeTyped();
      if (event.key === "Backspace") kept = kept.slice(0, -1);
      else if (event.key.length === 1) kept += event.key;
      event.preventDefault();
    },
    { signal, capture: true },
  );
}

/** Ends the keeping; the answer is what was typed. */
export function takeTyped(): string {
  stop?.abort();
  stop = null;
  const typed = kept;
  kept = "";
  return typed;
}

/** How long a field may take to load. Later keys are meant for something else. */
const mostMs = 10_000;

let kept = "";
let stop: AbortController | null = null;

/** Keeps typed keys while the field that they are meant for is loading. Until then no other handler gets them. */
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

/** Stops keeping keys and returns the typed text. */
export function takeTyped(): string {
  stop?.abort();
  stop = null;
  const typed = kept;
  kept = "";
  return typed;
}

/** The language of the texts, or one made up for tests: longer by 35 %, and also from right to left. */
type TextMode = "plain" | "pseudo" | "pseudo-rtl";

const key = "sluice.locale";
let made: ((text: string) => string) | undefined;

/** The language tag for numbers and dates. */
export function locale(): string {
  return navigator.language;
}

/** A text as it is shown: as it is, but for tests. */
export function disguise(text: string): string {
  return made ? made(text) : text;
}

/**
 * Reads `?locale=pseudo`, which is kept until `?locale=plain`. Marks the document with the direction of its texts, and loads what makes them
 * longer where that is asked for.
 */
export async function applyLocale(): Promise<void> {
  const asked = modeOf(new URLSearchParams(location.search).get("locale"));
  if (asked) remember(asked);
  const mode = asked ?? modeOf(remembered()) ?? "plain";
  document.documentElement.dir = mode === "pseudo-rtl" ? "rtl" : "ltr";
  made = mode === "plain" ? undefined : (await import("./pseudo")).pseudo;
}

function modeOf(text: string | null): TextMode | null {
  return text === "plain" || text === "pseudo" || text === "pseudo-rtl" ? text : null;
}

function remembered(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(next: TextMode): void {
  try {
    localStorage.setItem(key, next);
  } catch {
    // Without storage the address has to say it each time.
  }
}

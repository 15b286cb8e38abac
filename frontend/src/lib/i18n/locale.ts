/** The language of the texts, or a pseudo-language for tests: 35 % longer, and right to left if wanted. */
type TextMode = "plain" | "pseudo" | "pseudo-rtl";

const key = "sluice.locale";
let made: ((text: string) => string) | undefined;

/** The language tag for numbers and dates. */
export function locale(): string {
  return navigator.language;
}

/** Returns a text as it is shown: unchanged, except in a pseudo-language. */
export function disguise(text: string): string {
  return made ? made(text) : text;
}

/**
 * Reads `?locale=pseudo`, which is stored until `?locale=plain`. Sets the text direction of the document, and loads the pseudo-language if it is
 * chosen.
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
    // Without storage each address must name the language.
  }
}

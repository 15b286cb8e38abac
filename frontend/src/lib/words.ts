/** Normalizes a text for searches: removes accents and case, and turns dots, dashes and underscores into spaces. */
export function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/[._-]+/g, " ");
}

/** Whether a text contains all words of a search, in any order. */
export function holdsWords(text: string, query: string): boolean {
  const searched = folded(text);
  return folded(query).split(/\s+/).every((word) => searched.includes(word));
}

/** A text as it is searched: without accents and case, and with dots, dashes and underscores as spaces. */
export function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/[._-]+/g, " ");
}

/** Whether all words of a search stand somewhere in a text, in any order. */
export function holdsWords(text: string, query: string): boolean {
  const searched = folded(text);
  return folded(query).split(/\s+/).every((word) => searched.includes(word));
}

const accents: Record<string, string> = {
  a: "á", c: "ç", d: "ð", e: "é", g: "ğ", i: "í", l: "ł", n: "ñ", o: "ó", s: "š", t: "ţ", u: "ú", y: "ý", z: "ž",
  A: "Á", C: "Ç", E: "É", I: "Í", N: "Ñ", O: "Ó", S: "Š", U: "Ú",
};

/** Returns the text with accents and 35 % longer. Parts in braces or angle brackets are unchanged. */
export function pseudo(text: string): string {
  const letters = text.replace(/\{[^}]*\}|<[^>]*>/g, "").length;
  const marked = text.replace(/(\{[^}]*\}|<[^>]*>)|[a-zA-Z]/g, (part, kept: string | undefined) => kept ?? accents[part] ?? part);
  return `${marked}${"~".repeat(Math.ceil(letters * 0.35))}`;
}

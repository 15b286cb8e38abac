import { numberFormat, pluralRules } from "./intl";
import { disguise } from "./locale";

/** A text, or one for each plural form of `count`. */
type Text = string | { one?: string; other: string };

type Holes<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Holes<Rest> : never;

type Names<T extends Text> = T extends string ? Holes<T> : T extends { other: infer Other extends string } ? Holes<Other> | "count" : never;

type Values<T extends Text> = { [Name in Names<T>]: Name extends "count" ? number : string | number };

type Arguments<T extends Text> = [Names<T>] extends [never] ? [] : [values: Values<T>];

/** Returns the text of a key with its placeholders filled in. */
export type Translate<Texts extends Record<string, Text>> = <Key extends keyof Texts & string>(key: Key, ...values: Arguments<Texts[Key]>) => string;

/**
 * Creates the `t()` of a feature from its texts. `{name}` is a placeholder, and `count` chooses between `one` and `other`.
 * Numbers are formatted for the user's language.
 */
export function createTexts<const Texts extends Record<string, Text>>(texts: Texts): Translate<Texts> {
  return (key, ...[values]) => {
    const text = texts[key] as Text;
    const holes: Record<string, string | number> = values ?? {};
    const chosen = typeof text === "string" ? text : choose(text, Number(holes.count));
    return disguise(chosen).replace(/\{(\w+)\}/g, (hole, name: string) => {
      const value = holes[name];
      return value === undefined ? hole : typeof value === "number" ? numberFormat({ maximumFractionDigits: 2 }).format(value) : value;
    });
  };
}

function choose(text: { one?: string; other: string }, count: number): string {
  const form = pluralRules().select(count);
  return form === "one" ? (text.one ?? text.other) : text.other;
}

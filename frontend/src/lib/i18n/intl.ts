import { locale } from "./locale";

// Formatters are kept, because creating one costs a hundred times as much as using it and live pages use dozens each second.
const made = new Map<string, unknown>();

export function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return keep(`number ${JSON.stringify(options)}`, () => new Intl.NumberFormat(locale(), options));
}

export function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return keep(`date ${JSON.stringify(options)}`, () => new Intl.DateTimeFormat(locale(), options));
}

export function relativeFormat(): Intl.RelativeTimeFormat {
  return keep("relative", () => new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }));
}

export function pluralRules(): Intl.PluralRules {
  return keep("plural", () => new Intl.PluralRules(locale()));
}

function keep<T>(name: string, make: () => T): T {
  const key = `${locale()} ${name}`;
  const known = made.get(key) as T | undefined;
  if (known !== undefined) return known;
  const value = make();
  made.set(key, value);
  return value;
}

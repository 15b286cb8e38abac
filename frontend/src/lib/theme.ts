import { preference } from "./preference";

/** Light, dark, or the preference of the system. `index.html` applies it before the first paint. */
export const theme = preference("theme", ["auto", "dark", "light"]);

export type Theme = ReturnType<typeof theme.get>;

/** Applies the chosen theme; the style sheet does the rest. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

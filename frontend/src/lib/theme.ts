import { preference } from "./preference";

/** Light, dark, or what the system says. `index.html` sets it before the first paint. */
export const theme = preference("theme", ["auto", "dark", "light"]);

export type Theme = ReturnType<typeof theme.get>;

/** Shows the theme that was chosen; the style sheet does the rest. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

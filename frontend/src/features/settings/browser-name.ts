// The first match wins, because user agents also name the browsers they descend from.
const browsers = [
  [/\b(?:Edg|EdgA|EdgiOS)\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;

const systems = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;

const longest = 40;

/** Returns the browser of a User-Agent, as in "Firefox on Linux"; the start of an unknown one, null for an empty one. */
export function browserOf(agent: string): string | null {
  const nameIn = (list: readonly (readonly [RegExp, string])[]) => list.find(([pattern]) => pattern.test(agent))?.[1];
  const [browser, system] = [nameIn(browsers), nameIn(systems)];
  if (browser) return system ? `${browser} on ${system}` : browser;
  return agent === "" ? null : agent.slice(0, longest);
}

import { readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const built = path.resolve(import.meta.dirname, "../../backend/src/Server/wwwroot");
const files = readdirSync(built, { recursive: true, encoding: "utf8" }).filter((name) => statSync(path.join(built, name)).isFile());
const index = readFileSync(path.join(built, "index.html"), "utf8");
const named = [...index.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map((match) => match[1] ?? "");

const kilobyte = 1_000;
const gz = (names: readonly string[]) => names.reduce((sum, name) => sum + gzipSync(readFileSync(path.join(built, name)), { level: 9 }).length, 0);
const ending = (names: readonly string[], ...ends: string[]) => names.filter((name) => ends.some((end) => name.endsWith(end)));

/** Returns a script and all static imports below it. */
function withImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const code = readFileSync(path.join(built, name), "utf8");
  for (const [, file] of code.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) if (file) withImports(`assets/${file}`, seen);
  return seen;
}

function chunk(prefix: string): string {
  const name = files.find((file) => file.startsWith(`assets/${prefix}-`) && file.endsWith(".js"));
  if (!name) throw new Error(`There is no ${prefix}.`);
  return name;
}

/** Pages, dialogs and menus that `prefetchWhenIdle` loads. */
const aheadParts = [
  "files", "queue", "history", "menu-body", "dialog-body", "chart-table", "toaster", "user-items", "search-dialog", "upload-drop", "refused-dialog", "shell-notice",
  "shortcuts-dialog",
];

describe("the built files", () => {
  it("have a critical script of at most 120 KB", () => {
    expect(gz(ending(named, ".js"))).toBeLessThanOrEqual(120 * kilobyte);
  });

  it("have styles of at most 15 KB", () => {
    expect(gz(ending(files, ".css"))).toBeLessThanOrEqual(15 * kilobyte);
  });

  it("have no font, and images of at most 10 KB", () => {
    expect(ending(files, ".woff", ".woff2", ".ttf", ".otf")).toEqual([]);
    expect(gz(ending(files, ".svg", ".png", ".webp", ".jpg"))).toBeLessThanOrEqual(10 * kilobyte);
  });

  it("load Home without its chart in at most 160 KB", () => {
    const scripts = new Set(ending(named, ".js"));
    const parts = ["frame", "home"];
    for (const part of parts) withImports(chunk(part), scripts);
    expect(gz([...scripts])).toBeLessThanOrEqual(160 * kilobyte);
  });

  it("load at most 100 KB ahead, when the browser is idle", () => {
    const shown = new Set(ending(named, ".js"));
    for (const part of ["frame", "home"]) withImports(chunk(part), shown);
    const ahead = new Set(shown);
    for (const part of aheadParts) withImports(chunk(part), ahead);
    expect(gz([...ahead].filter((name) => !shown.has(name)))).toBeLessThanOrEqual(100 * kilobyte);
  });

  it("have at most 260 KB of lazy scripts, all pages together", () => {
    expect(gz(ending(files, ".js").filter((name) => !named.includes(name)))).toBeLessThanOrEqual(260 * kilobyte);
  });
});

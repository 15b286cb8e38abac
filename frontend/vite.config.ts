import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { type Plugin, type Rollup, defineConfig } from "vite";

const inHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env.SLUICE_URL ?? "http://localhost:3000";

/** Modules of the frame around the pages. Without this list, each small module that two pages share would be a file, and a request of Home. */
const frame = new RegExp(
  [
    "src/app/shell/(shell|live-pill)\\.",
    "src/components/ui/(card|badge|load-failure|skeleton|progress|menu|sparkline)\\.",
    "src/lib/(format|events|media|attempt|failure-names|film|live-list|playback|played-name)\\.",
    "@tanstack/(query-core|react-query)/build/modern/(infiniteQueryObserver|useInfiniteQuery)\\.",
    "lucide-react/dist/esm/icons/(chevron-down|chevron-right|circle|circle-check|circle-exclamation-point|film|gauge|pause|play|receipt-text|table-2)\\.",
  ].join("|"),
);

/**
 * Lets the browser paint the frame of index.html before the script runs. The script takes longer than everything before it, and if it is cached
 * the browser runs it before the first paint. A hidden tab never paints, so it starts the script at once.
 */
const frameFirst: Plugin = {
  name: "frame-first",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler: (html) => {
      let entry = "";
      const preloaded = html.replace(/<script type="module" crossorigin src="([^"]+)"><\/script>/, (_, path: string) => {
        entry = path;
        return `<link rel="modulepreload" crossorigin href="${path}">`;
      });
      if (entry === "") throw new Error("index.html has no script to put off.");
      const start = `const start = () => import("${entry}"); document.hidden ? start() : requestAnimationFrame(() => setTimeout(start));`;
      return preloaded.replace("</body>", `  <script>${start}</script>\n  </body>`);
    },
  },
};

/** Returns the file of a module's chunk and those of all its static imports, without those that the entry loads anyway. */
function filesOf(bundle: Rollup.OutputBundle, module: string, into: Set<string>): void {
  const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
  const add = (file: string) => {
    const chunk = chunks.find((some) => some.fileName === file);
    if (!chunk || chunk.isEntry || into.has(file)) return;
    into.add(file);
    chunk.imports.forEach(add);
  };
  const [own] = chunks.filter(({ moduleIds }) => moduleIds.some((id) => id.endsWith(module)));
  if (!own) throw new Error(`No chunk contains ${module}.`);
  add(own.fileName);
}

/**
 * Lets the browser request what Home needs while it still loads the main script: the answers of the API, and the scripts of the page. Otherwise all of
 * them would wait until the main script has run, which takes longer than the requests. Other pages load nothing ahead.
 */
const homeAhead: Plugin = {
  name: "home-ahead",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler: (html, { bundle }) => {
      const files = new Set<string>();
      for (const module of ["src/app/shell/shell.tsx", "src/app/routes/home.tsx"]) filesOf(bundle ?? {}, module, files);
      const ask = (path: string) => `load({ rel: "preload", as: "fetch", crossOrigin: "anonymous", href: "${path}" });`;
      const script = [
        "if (location.pathname === new URL(document.baseURI).pathname) {",
        '  const load = (link) => document.head.append(Object.assign(document.createElement("link"), link));',
        ...["api/session", "api/home"].map((path) => `  ${ask(path)}`),
        `  for (const href of ${JSON.stringify([...files])}) load({ rel: "modulepreload", crossOrigin: "anonymous", href });`,
        "}",
      ].join("\n");
      const head = html.replace(/(<link rel="stylesheet")/, `<script>\n${script}\n</script>\n    $1`);
      if (head === html) throw new Error("index.html has no styles to put the script before.");
      return head;
    },
  },
};

export default defineConfig({
  // Addresses are relative to <base href>, which the server writes from its URL base, so a sub-path needs no build of its own.
  base: "./",
  plugins: [react(), tailwindcss(), frameFirst, homeAhead],
  resolve: {
    alias: [
      { find: "@", replacement: inHere("src") },
      // The package resolves to its development build for every bundler. Its warnings, which no page shows, are an eighth of its size.
      { find: /^react-router$/, replacement: inHere("node_modules/react-router/dist/production/index.mjs") },
      { find: /^react-router\/dom$/, replacement: inHere("node_modules/react-router/dist/production/dom-export.mjs") },
    ],
  },
  build: {
    outDir: "../backend/src/Server/wwwroot",
    emptyOutDir: true,
    target: "es2023",
    // The server compresses, and the size test counts the compressed bytes.
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // Code that every page needs is one file, because small files compress worse and each costs a request.
        codeSplitting: {
          groups: [
            { name: "base", tags: ["$initial"], includeDependenciesRecursively: false },
            // Code that Home and most other pages behind the login need comes with the frame around them.
            { name: "frame", test: frame },
            { name: "radix", test: /node_modules\/(@radix-ui|@floating-ui|radix-ui|aria-hidden|react-remove-scroll|react-style-singleton|use-sidecar|use-callback-ref)/, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(["/api", "/view", "/healthz"].map((path) => [path, { target: server, changeOrigin: false }])),
  },
});

import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { type Plugin, defineConfig } from "vite";

const inHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env.SLUICE_URL ?? "http://localhost:3000";

const frame = new RegExp(
  [
    "src/app/shell/(shell|live-pill)\\.",
    "src/components/ui/(card|badge|load-failure|skeleton|progress|menu)\\.",
    "src/lib/(format|events|media|attempt)\\.",
    "lucide-react/dist/esm/icons/(chevron-right|circle-exclamation-point|gauge|pause|play|table-2)\\.",
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

export default defineConfig({
  // Addresses are relative to <base href>, which the server writes from its URL base, so a sub-path needs no build of its own.
  base: "./",
  plugins: [react(), tailwindcss(), frameFirst],
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
            // Code that every page behind the login needs comes with the frame around it.
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

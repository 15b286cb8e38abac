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
 * Lets the frame of index.html be painted before the script works: it takes longer to run than all before it, and a browser that has it does not
 * paint first. What is hidden is not painted, and does not wait for it.
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
  // Addresses are relative to <base href>, which the server writes from its URL base: a sub-path needs no build of its own.
  base: "./",
  plugins: [react(), tailwindcss(), frameFirst],
  resolve: {
    alias: [
      { find: "@", replacement: inHere("src") },
      // The package names its development build for every bundler: warnings that no page shows are an eighth of its size.
      { find: /^react-router$/, replacement: inHere("node_modules/react-router/dist/production/index.mjs") },
      { find: /^react-router\/dom$/, replacement: inHere("node_modules/react-router/dist/production/dom-export.mjs") },
    ],
  },
  build: {
    outDir: "../backend/src/Server/wwwroot",
    emptyOutDir: true,
    target: "es2023",
    // The server compresses, and the size test counts what it sends.
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // What every page needs is one file: small files compress worse, and each is a request.
        codeSplitting: {
          groups: [
            { name: "base", tags: ["$initial"], includeDependenciesRecursively: false },
            // What every page behind the login shows comes with the frame around it.
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

import { fileURLToPath } from "node:url";
import importX, { createNodeResolver } from "eslint-plugin-import-x";
import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";
import house from "./lint/plugin.js";

const source = fileURLToPath(new URL("src", import.meta.url));

export default tseslint.config(
  { ignores: ["node_modules", "src/types/api.d.ts", "**/*.css"] },
  { files: ["**/*.{js,ts,tsx}"], plugins: { house }, rules: { "house/kebab-case": "error" } },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [...tseslint.configs.strict],
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-console": "error",
    },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    extends: [reactHooks.configs.flat["recommended-latest"]],
    plugins: { "import-x": importX },
    settings: {
      "import-x/resolver-next": [createNodeResolver({ extensions: [".ts", ".tsx", ".d.ts"], alias: { "@": [source] } })],
      "import-x/parsers": { "@typescript-eslint/parser": [".ts", ".tsx"] },
    },
    rules: {
      "house/layers": "error",
      "house/no-literal-text": "error",
      "house/forward-signal": "error",
      "house/lazy-half": "error",
      "import-x/no-cycle": "error",
      "import-x/no-default-export": "error",
      "react-hooks/incompatible-library": "off",
    },
  },
  {
    files: ["src/features/**/*.{ts,tsx}", "src/app/**/*.{ts,tsx}", "src/components/**/*.{ts,tsx}"],
    rules: {
      "no-restricted-globals": [
        "error",
        { name: "fetch", message: "Call the API by lib/api-client." },
        { name: "EventSource", message: "Subscribe by useTopic of lib/events." },
        { name: "XMLHttpRequest", message: "Call the API by lib/api-client." },
      ],
    },
  },
  { files: ["src/**/*.test.{ts,tsx}", "src/testing/**"], rules: { "house/no-literal-text": "off", "house/forward-signal": "off" } },
);

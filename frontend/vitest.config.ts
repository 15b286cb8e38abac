import { defineConfig, mergeConfig } from "vitest/config";
import vite from "./vite.config.ts";

export default mergeConfig(
  vite,
  defineConfig({
    test: {
      environment: "jsdom",
      // Creates the parsed modules of jsdom once for each worker, which takes half of the time. Test files stay isolated.
      pool: "vmThreads",
      include: ["src/**/*.test.{ts,tsx}", "lint/**/*.test.ts"],
      setupFiles: ["src/testing/setup.ts"],
      // Pages load slowly on few or shared cores.
      testTimeout: 20_000,
      restoreMocks: true,
      unstubGlobals: true,
    },
  }),
);

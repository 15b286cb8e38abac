import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    // The normal tests, or one of the sets that commands of package.json name.
    include: [process.env.SLUICE_SET ?? "browser/*.test.ts"],
    // Each file has its own server and browser and sometimes waits for them, so three keep two cores busy. Measurements run alone.
    maxWorkers: process.env.SLUICE_SET ? 1 : 3,
    // Tests of one file that may run concurrently.
    maxConcurrency: 3,
    // The files share no state, and loading Playwright again takes most of a second.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

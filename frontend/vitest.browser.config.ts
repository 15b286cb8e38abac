import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    // The tests of the normal run, or one of the commands of package.json.
    include: [process.env.SLUICE_SET ?? "browser/*.test.ts"],
    // Each file has a server and a browser of its own, and waits for them now and then: three keep two cores busy. What is measured runs alone.
    maxWorkers: process.env.SLUICE_SET ? 1 : 3,
    // They share no state, and Playwright takes most of a second to load.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

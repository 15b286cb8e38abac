import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    // The tests of the normal run, or one of the commands of package.json.
    include: [process.env.SLUICE_SET ?? "browser/*.test.ts"],
    // Each file has a server and a browser of its own, and the machines that run this have two cores. What is measured runs alone.
    maxWorkers: process.env.SLUICE_SET ? 1 : 2,
    // They share no state, and Playwright takes most of a second to load.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

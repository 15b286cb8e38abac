import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    // The tests of the normal run, or one of the commands of package.json.
    include: [process.env.SLUICE_SET ?? "browser/*.test.ts"],
    // One server and one browser at a time: the machines that run this have two cores.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

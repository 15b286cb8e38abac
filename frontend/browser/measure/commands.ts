import { spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { note } from "./table";

const folder = path.resolve(import.meta.dirname, "../..");

/** Runs a command of package.json and returns its duration in seconds. */
async function secondsOf(...args: string[]): Promise<number> {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST") && name !== "SLUICE_SET" && name !== "NODE_ENV"));
  const began = performance.now();
  const child = spawn("npm", args, { cwd: folder, env: environment, stdio: "ignore" });
  const code = await new Promise((done) => child.once("exit", done));
  expect(code, args.join(" ")).toBe(0);
  return (performance.now() - began) / 1_000;
}

describe("commands", () => {
  it.each([
    [["run", "build"], 15],
    [["test"], 60],
    [["run", "test:browser"], 120],
  ])("measures npm %j", { timeout: 400_000 }, async (args, most) => {
    note(`npm ${args.join(" ")}`, [await secondsOf(...args)], "s", { goal: "17", most });
  });
});

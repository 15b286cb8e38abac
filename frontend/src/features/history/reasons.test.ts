import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { explain, otherTriesOf, reasons } from "./api/reasons";

interface Description {
  components: { schemas: { FailureReason: { enum: string[] } } };
}

const { enum: all } = (JSON.parse(readFileSync("openapi.json", "utf8")) as Description).components.schemas.FailureReason;

describe("the reasons of failures", () => {
  it("are exactly those of the server", () => {
    expect([...reasons].sort()).toEqual([...all].sort());
  });

  it.each(reasons)("%s has a title, a cause, an action and a button", (reason) => {
    const { title, cause, action, ways } = explain(reason);
    for (const [text, ending] of [[title, /[^.]$/], [cause, /\.$/], [action, /\.$/]] as const) {
      expect(text).toMatch(ending);
      expect(text).not.toMatch(/^(reason|cause|action)-|\{\w+\}/);
    }
    expect(ways.length).toBeGreaterThan(0);
  });

  it("offer to accept gaps only if the files can be identified", () => {
    expect(otherTriesOf("dead-post", "heads")).toEqual(["everyone"]);
    expect(otherTriesOf("severe-damage", "heads")).toEqual(["everyone", "damage"]);
    expect(otherTriesOf("missing-articles", "heads")).toEqual(["everyone"]);
    expect(otherTriesOf("missing-articles", "availability")).toEqual(["everyone", "damage"]);
    expect(otherTriesOf("corrupt-articles", "heads")).toEqual([]);
    expect(otherTriesOf(null, undefined)).toEqual([]);
  });
});

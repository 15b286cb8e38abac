import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { explain, otherTriesOf, reasons } from "./api/reasons";

interface Description {
  components: { schemas: { FailureReason: { enum: string[] } } };
}

const { enum: all } = (JSON.parse(readFileSync("openapi.json", "utf8")) as Description).components.schemas.FailureReason;

describe("the reasons of failures", () => {
  it("are those of the server, all of them", () => {
    expect([...reasons].sort()).toEqual([...all].sort());
  });

  it.each(reasons)("%s has a title, a cause, an action and something to press", (reason) => {
    const { title, cause, action, ways } = explain(reason);
    for (const [text, ending] of [[title, /[^.]$/], [cause, /\.$/], [action, /\.$/]] as const) {
      expect(text).toMatch(ending);
      expect(text).not.toMatch(/^(reason|cause|action)-|\{\w+\}/);
    }
    expect(ways.length).toBeGreaterThan(0);
  });

  it("offer what is missing to be taken only where files can be made out all the same", () => {
    expect(otherTriesOf("dead-post", "heads")).toEqual(["everyone"]);
    expect(otherTriesOf("severe-damage", "heads")).toEqual(["everyone", "damage"]);
    expect(otherTriesOf("missing-articles", "heads")).toEqual(["everyone"]);
    expect(otherTriesOf("missing-articles", "availability")).toEqual(["everyone", "damage"]);
    expect(otherTriesOf("corrupt-articles", "heads")).toEqual([]);
    expect(otherTriesOf(null, undefined)).toEqual([]);
  });
});

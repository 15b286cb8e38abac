import { describe, expect, it } from "vitest";
import { after, codeOf, isLater, shownStep, stepsOf } from "./steps";

describe("the steps of the setup", () => {
  it("resume at the step that the server has reached", () => {
    expect(shownStep(null, "try", false)).toBe("try");
    expect(shownStep(null, "done", false)).toBe("provider");
    expect(shownStep("apps", "provider", false)).toBe("apps");
  });

  it("begin with the account if there is none, and never return to it", () => {
    expect(shownStep("apps", "account", true)).toBe("account");
    expect(shownStep("account", "try", false)).toBe("try");
  });

  it("include an earlier installation before the provider", () => {
    expect(shownStep(null, "provider", true)).toBe("import");
    expect([shownStep("import", "done", true), shownStep(null, "try", true), shownStep(null, "done", true)]).toEqual(["import", "try", "provider"]);
    expect(shownStep("import", "provider", false)).toBe("provider");
    expect(stepsOf(true)).toHaveLength(stepsOf(false).length + 1);
  });

  it("only move the server forwards", () => {
    expect([after("import"), after("provider"), after("apps")]).toEqual(["provider", "try", "done"]);
    expect([isLater("try", "provider"), isLater("provider", "done"), isLater("done", "apps")]).toEqual([true, false, true]);
  });

  it("take the code from the printed link", () => {
    expect(codeOf("#K7QF-2M9X")).toBe("K7QF-2M9X");
    expect([codeOf(""), codeOf("#<b>")]).toEqual(["", ""]);
  });
});

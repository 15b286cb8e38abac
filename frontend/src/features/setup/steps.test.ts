import { describe, expect, it } from "vitest";
import { after, codeOf, isLater, shownStep } from "./steps";

describe("the steps of the setup", () => {
  it("go on where the server has come to", () => {
    expect(shownStep(null, "try")).toBe("try");
    expect(shownStep(null, "done")).toBe("provider");
    expect(shownStep("apps", "provider")).toBe("apps");
  });

  it("begin with the account while there is none, and never return to it", () => {
    expect(shownStep("apps", "account")).toBe("account");
    expect(shownStep("account", "try")).toBe("try");
  });

  it("move the server forwards alone", () => {
    expect([after("provider"), after("apps")]).toEqual(["try", "done"]);
    expect([isLater("try", "provider"), isLater("provider", "done"), isLater("done", "apps")]).toEqual([true, false, true]);
  });

  it("take the code out of the printed link", () => {
    expect(codeOf("#K7QF-2M9X")).toBe("K7QF-2M9X");
    expect([codeOf(""), codeOf("#<b>")]).toEqual(["", ""]);
  });
});

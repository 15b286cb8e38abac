import { afterEach, describe, expect, it } from "vitest";
import { applyLocale } from "./locale";
import { createTexts } from "./texts";

const t = createTexts({
  plain: "Queue",
  named: "Hello {name}, <b>{size}</b> left",
  counted: { one: "{count} file", other: "{count} files" },
});

describe("t", () => {
  afterEach(async () => {
    localStorage.clear();
    history.replaceState(null, "", "/");
    await applyLocale();
  });

  it("fills placeholders, chooses by number and formats numbers", () => {
    expect(t("plain")).toBe("Queue");
    expect(t("named", { name: "Ann", size: 1_234 })).toBe("Hello Ann, <b>1,234</b> left");
    expect(t("counted", { count: 1 })).toBe("1 file");
    expect(t("counted", { count: 2 })).toBe("2 files");
  });

  it("is a third longer for tests, and keeps placeholders and marks", async () => {
    history.replaceState(null, "", "/?locale=pseudo-rtl");
    await applyLocale();
    expect(document.documentElement.dir).toBe("rtl");
    expect(t("plain").length).toBeGreaterThanOrEqual(Math.ceil("Queue".length * 1.35));
    expect(t("named", { name: "Ann", size: 1 })).toContain("Ann, <b>1</b>");
  });
});

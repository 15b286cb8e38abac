import { describe, expect, it } from "vitest";
import type { SettingField, SettingValue } from "./api/settings";
import { changesOf } from "./setting-list";
import { inWords, isFound, isSame, toDraft, toText } from "./setting-values";
import { errorOf } from "./validation";

function fieldOf(change: Partial<SettingField>): SettingField {
  return {
    key: "api.categories", group: "download-client", title: "Categories", help: "Each is a folder.", type: "text", unit: null, min: null, max: null,
    choices: null, default: "", restart: false, secret: false, advanced: true, basic: false, aliases: [], overrideName: "SLUICE_CONFIG__API__CATEGORIES",
    zeroMeans: null, ...change,
  };
}

const valueOf = (change: Partial<SettingValue>): SettingValue => ({
  key: "api.categories", value: "", source: "default", variable: null, effective: null, isSet: false, isLocked: false, ...change,
});

describe("values of settings", () => {
  it("show a list with one element per line, and save it as an array", () => {
    const list = fieldOf({ type: "list" });
    expect(toDraft(list, '["tv","a, b"]')).toBe("tv\na, b");
    expect(toDraft(list, "tv, movies")).toBe("tv\nmovies");
    expect(toText(list, "tv\n\n  a, b ")).toBe('["tv","a, b"]');
    expect(isSame(list, "tv,movies", '["tv","movies"]')).toBe(true);
  });

  it("explain zero, and never show a secret", () => {
    expect(inWords(fieldOf({ type: "integer", unit: "MiB", zeroMeans: "no limit" }), "0")).toBe("no limit");
    expect(inWords(fieldOf({ type: "integer", unit: "MiB" }), "1024")).toBe("1,024 MiB");
    expect(inWords(fieldOf({ type: "secret", secret: true }), "hunter2")).not.toContain("hunter2");
  });

  it("are found by words of title, key and variable", () => {
    const field = fieldOf({});
    expect([isFound(field, "folder categor"), isFound(field, "api__categories"), isFound(field, "provider")]).toEqual([true, true, false]);
  });

  it("are checked before they are sent", () => {
    const number = fieldOf({ type: "integer", min: 4, max: 512 });
    expect(errorOf(number, "9999")).toContain("4 to 512");
    expect(errorOf(number, "1.5")).toContain("whole number");
    expect(errorOf(number, "64")).toBeUndefined();
    expect(errorOf(fieldOf({ type: "url" }), "nas:3000")).toBeDefined();
    expect(errorOf(fieldOf({ type: "path" }), "mnt/x")).toBeDefined();
    expect(errorOf(fieldOf({ type: "json" }), "{")).toBeDefined();
    expect(errorOf(fieldOf({ type: "url" }), "")).toBeUndefined();
  });

  it("count as changed if they differ, a secret as soon as it is typed", () => {
    const [list, secret] = [fieldOf({ type: "list" }), fieldOf({ key: "api.key", type: "secret", secret: true })];
    const values = new Map([["api.categories", valueOf({ value: '["tv"]' })], ["api.key", valueOf({ key: "api.key", value: null, isSet: true })]]);
    expect(changesOf([list, secret], values, { "api.categories": "tv\n", "api.key": "" })).toEqual([]);
    expect(changesOf([list, secret], values, { "api.categories": "tv\nmovies", "api.key": "0123456789abcdef" }).map((change) => change.after)).toEqual([
      '["tv","movies"]', "0123456789abcdef",
    ]);
  });
});

import { expect, it, vi } from "vitest";
import { copyText } from "./clipboard";

it("copies through a hidden field if the origin is not secure", async () => {
  vi.stubGlobal("isSecureContext", false);
  let copied = "";
  document.execCommand = () => {
    copied = (document.activeElement as HTMLTextAreaElement).value;
    return true;
  };
  expect(await copyText("http://nas.test/content")).toBe(true);
  expect(copied).toBe("http://nas.test/content");
  expect(document.querySelector("textarea")).toBeNull();
});

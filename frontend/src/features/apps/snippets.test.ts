import { describe, expect, it } from "vitest";
import { type Access, curlCommand, playlistUrl, quoted, rcloneConfig, treeUrl, withScheme } from "./snippets";

const access: Access = { origin: "http://nas:3000", urlBase: "/sluice", user: "admin", password: "it's $5", mountDir: "/mnt/sluice" };

describe("snippets", () => {
  it("contain the address of the tree below the URL base", () => {
    expect(treeUrl(access)).toBe("http://nas:3000/sluice/");
    expect(treeUrl({ ...access, urlBase: "" })).toBe("http://nas:3000/");
  });

  it("keep a password with quotes and dollars as one shell word", () => {
    expect(quoted("plain-1")).toBe("plain-1");
    expect(quoted("it's $5")).toBe(`'it'\\''s $5'`);
    expect(playlistUrl(access)).toBe("http://admin:it's%20%245@nas:3000/sluice/view/playlists.m3u");
    expect(curlCommand(access)).toBe(`curl -X PROPFIND -H "Depth: 1" -u 'admin:it'\\''s $5' http://nas:3000/sluice/content/`);
  });

  it("let rclone obscure the password, and omit the login if none is needed", () => {
    expect(rcloneConfig(access).split("\n")).toEqual([
      "mkdir -p ~/.config/rclone && cat >> ~/.config/rclone/rclone.conf <<EOF",
      "[sluice]",
      "type = webdav",
      "url = http://nas:3000/sluice/",
      "vendor = other",
      "user = admin",
      `pass = $(rclone obscure 'it'\\''s $5')`,
      "EOF",
    ]);
    expect(rcloneConfig({ ...access, user: "" })).not.toContain("pass");
  });

  it("add the scheme of the browser to addresses without one", () => {
    expect(withScheme("192.168.1.5:3000", "https://nas")).toBe("https://192.168.1.5:3000");
    expect(withScheme("http://sluice:3000/", "https://nas")).toBe("http://sluice:3000");
  });
});

import { execFile, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ArrReplica, refusalOf, startArr } from "./arr-replica";
import { account, openPage, setUp, setupCode, startBrowser, startServer } from "./harness";
import { type World, call, startWorld } from "./world";

const run = promisify(execFile);
const canMount = existsSync("/dev/fuse") && process.getuid?.() === 0 && has("fusermount3") && has("rclone");
const mebibyte = 1_048_576;
const release = "Big.Buck.Bunny.2008.1080p";

let world: World;
let browser: Browser;
let page: Page;
let arr: ArrReplica;
let home: string;
let mountDir: string;
/** The WebDAV login that the cards show. */
let login: { user: string; password: string };
/** SHA-256 of the first MiB of the film, read through the API's own link. */
let beginning: string;

function has(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Runs a copied command in the shell of a user without any configuration. */
async function shell(command: string): Promise<Buffer> {
  const { stdout } = await run("bash", ["-euc", command], { env: { ...process.env, HOME: home, XDG_CONFIG_HOME: "" }, encoding: "buffer", maxBuffer: 16 * mebibyte });
  return stdout;
}

/** Presses a copy button and returns the text on the clipboard. */
async function copied(page: Page, label: string): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.getByRole("button", { name: `Copy: ${label}`, exact: true }).locator("visible=true").first().click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).not.toBe("");
  return page.evaluate(() => navigator.clipboard.readText());
}

async function openApps(...names: string[]): Promise<void> {
  await page.goto("setup?step=apps");
  for (const name of names) await page.locator("summary", { hasText: new RegExp(`^.${name}`) }).click();
}

beforeAll(async () => {
  mountDir = await mkdtemp(path.join(tmpdir(), "sluice-mount-"));
  [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"], { SLUICE_CONFIG__RCLONE__MOUNT_DIR: mountDir })]);
  page = await openPage(browser, world.server, { cookie: world.cookie, permissions: ["clipboard-read", "clipboard-write"] });
  page.setDefaultTimeout(20_000);
  home = path.join(world.folder, "home");
  await mkdir(home);
  arr = await startArr(mountDir);
  await world.add("Sluice.Clip.2026.720p", world.clip, "movies");
  await world.add(release, await world.nzb(1, { size: 8 }), "movies");
  await world.untilHistory(2);
  const { items } = await call<{ items: { id: string | null }[] }>(world.server, world.cookie, "GET", `files?path=movies/${release}`);
  const { links } = await call<{ links: { signed: string } }>(world.server, world.cookie, "GET", `files/${items[0]?.id}`);
  const response = await fetch(links.signed.replace(/^https?:\/\/[^/]+/, world.server.url), { headers: { Range: `bytes=0-${mebibyte - 1}` } });
  beginning = digest(Buffer.from(await response.arrayBuffer()));
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await arr?.stop();
  await world?.stop();
  if (mountDir) await rmdir(mountDir);
});

describe("the copy buttons on the cards of programs", () => {
  it("give a configuration with which rclone lists and reads the tree", async () => {
    await openApps("rclone");
    await page.getByRole("button", { name: "Create a new password" }).click();
    await page.getByRole("button", { name: "Create password" }).click();
    login = { user: await copied(page, "Username"), password: await copied(page, "Password") };
    await shell(await copied(page, "Create the configuration (shell)"));
    expect((await shell("rclone lsf sluice:content/movies")).toString().split("\n")).toContain(`${release}/`);
    expect(digest(await shell(`rclone cat --count ${mebibyte} sluice:content/movies/${release}/film.mkv`))).toBe(beginning);
    expect(await copied(page, "Docker Compose volume for Sonarr, Radarr, Plex and Jellyfin")).toBe(`- ${mountDir}:${mountDir}:rslave`);
  });

  it("give a command that lists the tree, and a link to the files for VLC", async () => {
    await openApps("VLC");
    expect((await shell(await copied(page, "Try it (shell)"))).toString()).toContain("movies");
    expect(await page.locator("main details[open]").getByRole("link", { name: "Files" }).getAttribute("href")).toBe("/files");
    const { pathname } = new URL(await copied(page, "Your library as a playlist"));
    const list = await fetch(new URL(pathname, world.server.url), { headers: { Authorization: `Basic ${btoa(`${login.user}:${login.password}`)}` } });
    expect([list.status, (await list.text()).startsWith("#EXTM3U")]).toEqual([200, true]);
  });

  it("give an address and a path at which Infuse finds the share", async () => {
    await openApps("Infuse");
    const share = `${await copied(page, "Address")}${await copied(page, "Path")}`;
    const authorization = `Basic ${Buffer.from(`${await copied(page, "Username")}:${login.password}`).toString("base64")}`;
    const answer = await fetch(share, { method: "PROPFIND", headers: { Authorization: authorization, Depth: "1" } });
    expect([answer.status, (await answer.text()).includes("movies")]).toEqual([207, true]);
  });

  it("give values with which Sonarr accepts Sluice as SABnzbd", async () => {
    await openApps("Sonarr");
    await page.getByText("Or set it up manually").first().click();
    const entered = { host: await copied(page, "Host"), port: await copied(page, "Port"), urlBase: "", apiKey: await copied(page, "API Key"), category: await copied(page, "Category") };
    expect(await refusalOf(entered)).toBeNull();
    expect(await refusalOf({ ...entered, apiKey: "0".repeat(32) })).not.toBeNull();
  });

  it("are not needed for Sonarr, and connecting it twice adds one client", async () => {
    await openApps("Sonarr");
    await page.getByLabel("Sonarr address").fill(arr.url);
    await page.getByLabel("Sonarr API key").fill(arr.key);
    await page.getByRole("button", { name: "Add to Sonarr" }).click();
    await page.getByText(/^Sonarr is connected/).waitFor();
    await page.getByRole("button", { name: "Add to Sonarr" }).click();
    await page.getByText(/^Sonarr was already connected/).waitFor();
    expect(arr.clients).toHaveLength(1);
  });

  it.runIf(canMount)("give commands for a mount in which the named folders and paths are readable", async () => {
    await openApps("rclone", "Plex");
    const mount = spawn("bash", ["-euc", `exec ${await copied(page, "Mount it")}`], { env: { ...process.env, HOME: home, XDG_CONFIG_HOME: "" }, stdio: "ignore" });
    try {
      const folder = await copied(page, "No Sonarr/Radarr? Add this folder as your movies library");
      await expect.poll(() => existsSync(path.join(folder, release)), { timeout: 20_000 }).toBe(true);
      expect(await copied(page, "Volume for Plex's container")).toBe(`- ${mountDir}:${mountDir}:rslave`);
      await page.goto(`files/movies/${release}`);
      await page.getByRole("link", { name: "film.mkv", exact: true }).click();
      const link = await copied(page, "Path for Sonarr and Radarr");
      // Before 1.70.3 rclone shows a link as a text file that holds its target.
      const file = await open(existsSync(`${link}.rclonelink`) ? await readFile(`${link}.rclonelink`, "utf8") : link);
      const { buffer } = await file.read(Buffer.alloc(mebibyte), 0, mebibyte, 0);
      await file.close();
      expect(digest(buffer)).toBe(beginning);
    } finally {
      const ended = new Promise((done) => mount.once("exit", done));
      mount.kill("SIGTERM");
      await ended;
    }
  });
});

describe("the copy buttons on the page of a file", () => {
  it("give an address for curl with the login, and a link that needs none", async () => {
    await page.goto(`files/movies/${release}`);
    await page.getByRole("link", { name: "film.mkv", exact: true }).click();
    const bytes = await shell(`curl -sf -u '${login.user}:${login.password}' -r 0-${mebibyte - 1} '${await copied(page, "WebDAV address")}'`);
    expect(digest(bytes)).toBe(beginning);

    await page.goto("files/movies/Sluice.Clip.2026.720p");
    await page.getByRole("link", { name: "clip.mp4", exact: true }).click();
    await run("ffprobe", ["-v", "error", await copied(page, "Password-free link")]);
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download .m3u" }).click();
    const playlist = await readFile(await (await waiting).path(), "utf8");
    const link = playlist.split("\n")[2] ?? "";
    await run("ffprobe", ["-v", "error", link]);
    const days = (Number(new URL(link).searchParams.get("expires")) * 1_000 - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
  });
});

/** Returns the keys of a YAML file of nested mappings, each after its parents. */
function namesOf(yaml: string): string[] {
  const way: { indent: number; name: string }[] = [];
  return yaml.split("\n").flatMap((line) => {
    const [, space, name] = /^( *)([\w-]+):/.exec(line) ?? [];
    if (space === undefined || name === undefined) return [];
    while ((way.at(-1)?.indent ?? -1) >= space.length) way.pop();
    way.push({ indent: space.length, name });
    return [way.map((step) => step.name).join(" ")];
  });
}

describe("the copy buttons for a forgotten login", () => {
  it("give a shell command that resets the login, and lines for the compose file", async () => {
    const server = await startServer();
    try {
      await setUp(server);
      const page = await openPage(browser, server, { permissions: ["clipboard-read", "clipboard-write"] });
      await page.goto("login");
      await page.getByText("Forgot it?").click();
      const lines = await copied(page, "Lines for the compose file");
      expect(namesOf(lines).at(-1)).toBe("services sluice environment RESET_ADMIN_PASSWORD");
      expect(namesOf(await readFile(path.resolve(import.meta.dirname, "../../docker-compose.yml"), "utf8"))).toContain("services sluice environment");

      await server.restart({ line: await copied(page, "Command") });
      await page.goto(`setup#${setupCode}`);
      await page.getByLabel("Password", { exact: true }).fill("another good password");
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("heading", { name: "Provider" }).waitFor();
      await page.context().close();

      await server.restart();
      const other = await openPage(browser, server);
      await other.goto("login");
      await other.getByLabel("Username").fill(account.user);
      await other.getByLabel("Password", { exact: true }).fill(account.password);
      await other.getByRole("button", { name: "Log in" }).click();
      await other.getByText("Wrong username or password.").waitFor();
      await other.getByLabel("Password", { exact: true }).fill("another good password");
      await other.getByRole("button", { name: "Log in" }).click();
      await other.waitForURL((at) => !at.pathname.endsWith("/login"));
      await other.context().close();
    } finally {
      await server.stop();
    }
  });
});

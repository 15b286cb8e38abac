import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ArrReplica, startArr } from "./arr-replica";
import { brokenRules, overflowAt, smallTargets } from "./checks";
import { openPage, startBrowser, windows } from "./harness";
import { type World, call, startWorld } from "./world";

const run = promisify(execFile);
const canMount = existsSync("/dev/fuse") && process.getuid?.() === 0 && has("fusermount3") && has("rclone");
const composeCommand = spawnSync("docker", ["compose", "version"]).status === 0 ? ["docker", "compose"] : has("docker-compose") ? ["docker-compose"] : null;
const mebibyte = 1_048_576;
const release = "Big.Buck.Bunny.2008.1080p";
const places = ["In Docker on this machine", "On this machine, without Docker", "On a NAS", "On another machine"];

let world: World;
let browser: Browser;
let page: Page & { errors: string[] };
let arr: ArrReplica;
let folder: string;
let mountDir: string;
/** SHA-256 of the first MiB of the film, read through the API's own link. */
let beginning: string;

function has(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Presses a copy button and returns the text on the clipboard. */
async function copied(label: string): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.getByRole("button", { name: `Copy: ${label}`, exact: true }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).not.toBe("");
  return page.evaluate(() => navigator.clipboard.readText());
}

const choose = (place: string) => page.getByRole("button", { name: place, exact: true }).click();

/** Returns the SHA-256 of the first MiB of the film, read through the mount like a program would. */
async function readFilm(): Promise<string> {
  const file = await open(path.join(mountDir, "content/movies", release, "film.mkv"));
  const { buffer } = await file.read(Buffer.alloc(mebibyte), 0, mebibyte, 0);
  await file.close();
  return digest(buffer);
}

/** Runs `work` while a program mounts, then ends the program. */
async function whileMounted(mount: ChildProcess, work: () => Promise<void>): Promise<void> {
  const ended = new Promise((done) => mount.once("exit", done));
  try {
    await expect.poll(() => existsSync(path.join(mountDir, "README")), { timeout: 60_000 }).toBe(true);
    await work();
  } finally {
    await run("fusermount3", ["-u", "-z", mountDir]).catch(() => undefined);
    mount.kill("SIGTERM");
    await ended;
  }
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sluice-mount-"));
  mountDir = path.join(folder, "films");
  [browser, world] = await Promise.all([startBrowser(), startWorld(["Main"], { SLUICE_CONFIG__RCLONE__MOUNT_DIR: mountDir })]);
  page = await openPage(browser, world.server, { cookie: world.cookie, permissions: ["clipboard-read", "clipboard-write"] });
  page.setDefaultTimeout(60_000);
  arr = await startArr(mountDir);
  arr.hasFolder = false;
  await world.add(release, await world.nzb(1, { size: 8 }), "movies");
  await world.untilHistory(1);
  const { items } = await call<{ items: { id: string | null }[] }>(world.server, world.cookie, "GET", `files?path=movies/${release}`);
  const { links } = await call<{ links: { signed: string } }>(world.server, world.cookie, "GET", `files/${items[0]?.id}`);
  const response = await fetch(links.signed.replace(/^https?:\/\/[^/]+/, world.server.url), { headers: { Range: `bytes=0-${mebibyte - 1}` } });
  beginning = digest(Buffer.from(await response.arrayBuffer()));
  await page.goto("setup?step=apps");
}, 240_000);

afterAll(async () => {
  await browser?.close();
  await arr?.stop();
  await world?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

describe("the card for the mount", { timeout: 240_000 }, () => {
  it("says that nothing reads Sluice yet, and explains the two logins", async () => {
    await page.getByText("The mount is still missing. Nothing has read from Sluice since you opened this page.").waitFor();
    await page.getByText("Yours (admin) opens this web interface.").waitFor();
    await page.getByText("The players' (admin) only opens films over WebDAV.", { exact: false }).waitFor();
  });

  it.each(places)("is accessible, fits the window and has large targets: %s", async (place) => {
    await choose(place);
    await page.setViewportSize(windows.phone.viewport);
    expect(await brokenRules(page)).toEqual([]);
    expect(await smallTargets(page, 24)).toEqual([]);
    expect(await overflowAt(page)).toEqual([0, 0, 0, 0]);
    await page.setViewportSize(windows.desktop.viewport);
  });

  it.runIf(composeCommand)("gives a valid compose file for each place with Docker", async () => {
    const [command = "", ...words] = composeCommand ?? [];
    const file = path.join(folder, "docker-compose.yml");
    for (const place of [0, 2, 3]) {
      await choose(places[place] ?? "");
      for (const isWhole of [true, false]) {
        await page.getByRole("switch", { name: /^Add Sonarr/ }).setChecked(isWhole);
        await writeFile(file, await copied("docker-compose.yml"));
        await run(command, [...words, "-f", file, "config", "--quiet"]);
      }
    }
  });

  it.runIf(canMount)("gives a compose file whose rclone mounts, and then reports success", async () => {
    await choose(places[0] ?? "");
    await page.getByRole("button", { name: "Create a new password" }).click();
    await page.getByRole("button", { name: "Create password" }).click();
    await page.getByText("Copy it now").waitFor();
    const file = await copied("docker-compose.yml");
    const [, variables = "", command = ""] = /^ {4}environment:\n((?: {6}.+\n)+)[^]*?^ {6}- \|\n((?: {8}.+\n)+)/m.exec(file) ?? [];
    const environment = Object.fromEntries(
      variables.trimEnd().split("\n").map((line) => {
        const [, name = "", value = ""] = /^ +(\w+): (.*)$/.exec(line) ?? [];
        // The test runs outside a container, so the name of the host is replaced with loopback.
        return [name, (value.startsWith('"') ? String(JSON.parse(value)) : value).replaceAll("$$", "$").replace("host.docker.internal", "127.0.0.1")];
      }),
    );
    expect(environment.MOUNT_DIR).toBe(mountDir);
    const mount = spawn("/bin/sh", ["-ec", command.replaceAll("$$", "$")], { env: { PATH: process.env.PATH, HOME: folder, ...environment }, stdio: "ignore" });
    await whileMounted(mount, async () => {
      expect(await readFilm()).toBe(beginning);
      await page.getByText(/^rclone.* at 127\.0\.0\.1, .* ago$/).waitFor();
      await page.getByText("The mount works, but Sonarr and Radarr aren't connected yet.", { exact: false }).waitFor();

      await page.locator("summary", { hasText: /^.Sonarr/ }).click();
      await page.getByLabel("Sonarr address").fill(arr.url);
      await page.getByLabel("Sonarr API key").fill(arr.key);
      await page.getByRole("button", { name: "Add to Sonarr" }).click();
      await page.getByText("The mount works, but Sonarr can't see the files yet.").waitFor();
      arr.hasFolder = true;
      // The page checks Sonarr again by itself.
      await page.getByText(`Everything works. Your films are in ${mountDir}.`).waitFor();
    });
  });

  it.runIf(canMount)("gives commands for root that write a unit whose rclone mounts", async () => {
    await choose(places[1] ?? "");
    const etc = path.join(folder, "etc");
    await mkdir(path.join(etc, "systemd/system"), { recursive: true });
    const unit = path.join(etc, "systemd/system/sluice-mount.service");
    // Replaces systemd: runs the commands of the unit before its main process, which the test starts.
    const systemctl = `systemctl() { [ "$1" != restart ] || sed -n 's/^ExecStartPre=-\\{0,1\\}//p' ${unit} | while read -r line; do $line || true; done; }\n`;
    await run("bash", ["-euc", systemctl + (await copied("Run as root")).replaceAll("/etc/", `${etc}/`)]);
    if (has("systemd-analyze")) await run("systemd-analyze", ["verify", unit]);
    const [, line = ""] = /^ExecStart=(.*)$/m.exec(await readFile(unit, "utf8")) ?? [];
    await whileMounted(spawn("bash", ["-euc", `exec ${line}`], { env: { PATH: process.env.PATH, HOME: folder }, stdio: "ignore" }), async () => {
      expect(await readFilm()).toBe(beginning);
    });
  });

  it("logs no error in the console", () => {
    expect(page.errors).toEqual([]);
  });
});

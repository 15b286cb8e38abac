import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { composeFile, containerVolume, mountUnit, nasHosts, pathMapping, rootOf, unitInstall, usualHost } from "./mount-plan";
import { type Access } from "./snippets";

const access: Access = { origin: "http://nas:3000", urlBase: "", user: "admin", password: "correct horse", mountDir: "/mnt/sluice" };
const host = usualHost(access, "UTC");

const repositoryFile = (name: string) => readFileSync(resolve(import.meta.dirname, "../../../..", name), "utf8");

/** Returns docker-compose.yml with these variables filled in, without the parts that the page leaves out: Sluice, profiles and comments. */
function documented(variables: Record<string, string>): string {
  const [, , ...services] = repositoryFile("docker-compose.yml").replace(/ +#.*$|^#.*$/gm, "").split(/^(?= {2}\w+:$|volumes:$)/m);
  return `services:\n${services.join("")}`
    .replace(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, usual: string) => variables[name] ?? usual)
    .replace(/^ +profiles:.*\n|^ +depends_on: \[sluice\]\n|^ +\[ -n "\$\$WEBDAV_PASSWORD" \].*\n|^ +sluice-data:\n/gm, "")
    .replace(/^\s*\n/gm, "");
}

const places = [
  { name: "docker", host },
  ...Object.entries(nasHosts).map(([name, nas]) => ({ name, host: { ...nas, timeZone: "Europe/Berlin" } })),
];

describe("the compose file", () => {
  it("is docker-compose.yml with the values of this server", () => {
    const yielded = composeFile(access, host, true);
    const expected = documented({ WEBDAV_PASSWORD: '"correct horse"' }).replace("http://sluice:3000", access.origin);
    expect(yielded).toBe(expected);
  });

  it("has only rclone if the programs are not wanted", () => {
    expect(composeFile(access, host, true).startsWith(composeFile(access, host, false))).toBe(true);
    expect(composeFile(access, host, false)).not.toContain("sonarr");
  });

  it.each(places)("puts the mount at the path that Sluice uses, on $name", ({ host }) => {
    const lines = composeFile(access, host, true).split("\n").map((line) => line.trim());
    expect(lines.filter((line) => line.startsWith("target:"))).toEqual([`target: ${rootOf(access.mountDir)}`]);
    expect(lines).toContain(`source: ${host.root}`);
    expect(lines).toContain(`MOUNT_DIR: ${access.mountDir}`);
    expect(containerVolume(host, access)).toBe(`- ${host.root}/sluice:/mnt/sluice:rslave`);
  });

  it("reaches Sluice from a container if the browser uses localhost", () => {
    const yielded = composeFile({ ...access, origin: "http://localhost:3000", urlBase: "/sluice" }, host, false);
    expect(yielded).toContain("RCLONE_CONFIG_SLUICE_URL: http://host.docker.internal:3000/sluice\n");
    expect(yielded).toContain('extra_hosts: ["host.docker.internal:host-gateway"]\n');
  });

  it("keeps a password with quotes and dollars as one value", () => {
    expect(composeFile({ ...access, password: `it's "$5": #1\\` }, host, false)).toContain(`WEBDAV_PASSWORD: "it's \\"$$5\\": #1\\\\"\n`);
    expect(composeFile({ ...access, user: "yes" }, host, false)).toContain('RCLONE_CONFIG_SLUICE_USER: "yes"\n');
  });

  it("has no login if none is needed", () => {
    expect(composeFile({ ...access, user: "" }, host, false)).not.toMatch(/PASS|USER/);
  });
});

describe("the unit", () => {
  it("is config/sluice-mount.service with the folder of this server", () => {
    expect(`${mountUnit("/mnt/sluice")}\n`).toBe(repositoryFile("config/sluice-mount.service").replace(/^#.*\n/gm, ""));
    expect(mountUnit("/srv/films")).toContain("ExecStop=/usr/bin/umount /srv/films\n");
    expect(mountUnit("/srv/my 5% films")).toContain('ExecStop=/usr/bin/umount "/srv/my 5%% films"\n');
  });

  it("uses the same remote as config/rclone.conf.example", () => {
    const lines = unitInstall({ ...access, origin: "http://localhost:3000" }).split("\n");
    const example = repositoryFile("config/rclone.conf.example").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(lines.slice(lines.indexOf("[sluice]"), lines.indexOf("EOF")).map((line) => line.replace("3000/", "3000").replace(/^pass = .*/, "pass = "))).toEqual(example);
  });
});

describe("the guide of rclone", () => {
  it("mounts with the options of the unit", () => {
    const options = (text: string) => text.replaceAll("=", " ").match(/--(links|allow-other|dir-cache-time \w+|vfs-cache-mode \w+)/g);
    const guide = /^ExecStart=.*$/m.exec(repositoryFile("docs/guides/rclone.md"))?.[0] ?? "";
    const unit = /^ExecStart=.*$/m.exec(mountUnit("/mnt/sluice"))?.[0] ?? "";
    expect(options(guide)).toEqual(options(unit));
    expect(options(unit)).toHaveLength(4);
  });
});

describe("the mapping of Sonarr", () => {
  it("names the host as in Sonarr and the folder as Sluice reports it", () => {
    expect(pathMapping(access, "/data/strm")).toEqual({ host: "nas", remotePath: "/data/strm/" });
  });
});

it("returns the folder above a mount, or the mount if it has none", () => {
  expect([rootOf("/mnt/sluice"), rootOf("/data/media/sluice"), rootOf("/sluice")]).toEqual(["/mnt", "/data/media", "/sluice"]);
});

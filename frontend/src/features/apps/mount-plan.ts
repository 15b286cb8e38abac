import { type Access, quoted, remoteLines, treeUrl } from "./snippets";

/** Where the programs run that need the WebDAV tree as a folder. */
export type Place = "docker" | "here" | "nas" | "elsewhere";

export type Nas = "synology" | "unraid" | "truenas";

/** Facts about the machine that a container runs on. */
export interface Host {
  puid: number;
  pgid: number;
  /** Folder of the machine that contains the mount and is passed to containers. It must exist. */
  root: string;
  timeZone: string;
}

/** Users and folders of NAS systems, as documented by their vendors. `shared` is the file system that must be shared for rclone. */
export const nasHosts: Record<Nas, { puid: number; pgid: number; root: string; shared: string }> = {
  synology: { puid: 1026, pgid: 100, root: "/volume1/docker/sluice/mnt", shared: "/" },
  unraid: { puid: 99, pgid: 100, root: "/mnt", shared: "/" },
  truenas: { puid: 568, pgid: 568, root: "/mnt/tank/mounts", shared: "/mnt/tank" },
};

/** Returns a machine with Docker and the most common user. */
export function usualHost(access: Access, timeZone: string): Host {
  return { puid: 1000, pgid: 1000, root: rootOf(access.mountDir), timeZone };
}

/** The name under which a container reaches its own machine. */
const dockerHost = "host.docker.internal";

/** Returns the parent of the mount, because the mount itself may be missing when containers start; the mount if it has no parent. */
export function rootOf(mountDir: string): string {
  return mountDir.slice(0, mountDir.lastIndexOf("/")) || mountDir;
}

/** Returns the folder of the mount on the machine. */
export function folderOn(host: Host, access: Access): string {
  return host.root + access.mountDir.slice(rootOf(access.mountDir).length);
}

/** Returns a value of a compose file, quoted unless it is a plain word or path. */
function yaml(value: string): string {
  return /^\/?[a-z][\w./:-]*[\w/]$|^\/[\w./-]+$/i.test(value) && !/^(true|false|yes|no|on|off|null)$/i.test(value) ? value : inQuotes(value);
}

function inQuotes(value: string): string {
  return JSON.stringify(value).replaceAll("$", "$$$$");
}

/** Whether an address works only on the machine itself. */
function isLoopback(origin: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(origin).hostname);
}

/**
 * Returns a complete compose file: rclone with the mount, and on request the programs of docker-compose.yml. A test keeps both files in sync.
 * Containers reach the address `localhost` of their machine under another name.
 */
export function composeFile(access: Access, host: Host, hasApps: boolean): string {
  const isOwn = isLoopback(access.origin);
  const own = new URL(access.origin);
  if (isOwn) own.hostname = dockerHost;
  const url = `${own.origin}${access.urlBase}`;
  const hasLogin = access.user !== "";
  const lines = [
    "services:",
    "  rclone:",
    "    image: docker.io/rclone/rclone:1.75.1@sha256:45401ad7410db1d67ffdb58e19059ad20b0d8e0285a60e38bbec55cc1019c7a5",
    "    environment:",
    `      PUID: ${host.puid}`,
    `      PGID: ${host.pgid}`,
    `      MOUNT_DIR: ${yaml(access.mountDir)}`,
    ...(hasLogin ? [`      WEBDAV_PASSWORD: ${inQuotes(access.password)}`] : []),
    "      RCLONE_CONFIG_SLUICE_TYPE: webdav",
    "      RCLONE_CONFIG_SLUICE_VENDOR: other",
    `      RCLONE_CONFIG_SLUICE_URL: ${yaml(url)}`,
    ...(hasLogin ? [`      RCLONE_CONFIG_SLUICE_USER: ${yaml(access.user)}`] : []),
    ...(isOwn ? [`    extra_hosts: ["${dockerHost}:host-gateway"]`] : []),
    "    entrypoint: [/bin/sh, -ec]",
    "    command:",
    "      - |",
    ...(hasLogin ? ['        RCLONE_CONFIG_SLUICE_PASS=$$(printf %s "$$WEBDAV_PASSWORD" | rclone obscure -)', "        export RCLONE_CONFIG_SLUICE_PASS"] : []),
    '        umount -l "$$MOUNT_DIR" 2>/dev/null || true',
    '        mkdir -p "$$MOUNT_DIR"',
    '        until wget -q -O /dev/null "$$RCLONE_CONFIG_SLUICE_URL/healthz"; do sleep 1; done',
    '        exec rclone mount sluice: "$$MOUNT_DIR" --links --allow-other --allow-non-empty --uid="$$PUID" --gid="$$PGID" \\',
    "          --dir-cache-time=10s --vfs-cache-mode=off",
    "    devices: [/dev/fuse]",
    "    cap_add: [SYS_ADMIN]",
    '    security_opt: ["apparmor:unconfined"]',
    "    restart: unless-stopped",
    "    healthcheck:",
    `      test: ["CMD", "test", "-e", ${inQuotes(`${access.mountDir}/.ids`)}]`,
    "      interval: 5s",
    "      timeout: 10s",
    "      retries: 12",
    "    volumes:",
    "      - &above",
    "        type: bind",
    `        source: ${yaml(host.root)}`,
    `        target: ${yaml(rootOf(access.mountDir))}`,
    "        bind:",
    "          propagation: rshared",
    ...(hasApps ? programLines(host) : []),
  ];
  return `${lines.join("\n")}\n`;
}

function programLines(host: Host): string[] {
  return [
    "  sonarr:",
    "    image: lscr.io/linuxserver/sonarr:4.0.19",
    "    environment: &user",
    `      PUID: ${host.puid}`,
    `      PGID: ${host.pgid}`,
    `      TZ: ${yaml(host.timeZone)}`,
    "    restart: unless-stopped",
    "    depends_on: &mounted",
    "      rclone:",
    "        condition: service_healthy",
    '    ports: ["8989:8989"]',
    "    volumes:",
    "      - sonarr-config:/config",
    "      - ./media:/media",
    "      - &mount",
    "        <<: *above",
    "        bind:",
    "          propagation: rslave",
    "  radarr:",
    "    image: lscr.io/linuxserver/radarr:6.2.1",
    "    environment: *user",
    "    restart: unless-stopped",
    "    depends_on: *mounted",
    '    ports: ["7878:7878"]',
    "    volumes:",
    "      - radarr-config:/config",
    "      - ./media:/media",
    "      - *mount",
    "  prowlarr:",
    "    image: lscr.io/linuxserver/prowlarr:2.3.5",
    "    environment: *user",
    "    restart: unless-stopped",
    '    ports: ["9696:9696"]',
    "    volumes:",
    "      - prowlarr-config:/config",
    "  jellyfin:",
    "    image: docker.io/jellyfin/jellyfin:10.11.11",
    `    user: "${host.puid}:${host.pgid}"`,
    "    environment: *user",
    "    restart: unless-stopped",
    "    depends_on: *mounted",
    '    ports: ["8096:8096"]',
    "    volumes:",
    "      - ./jellyfin/config:/config",
    "      - ./jellyfin/cache:/cache",
    "      - ./media:/media",
    "      - *mount",
    "volumes:",
    "  sonarr-config:",
    "  radarr-config:",
    "  prowlarr-config:",
  ];
}

/** Returns the commands that start the compose file. Jellyfin runs as the user, so its folders must belong to that user. */
export function composeStart(hasApps: boolean): string {
  return `${hasApps ? "mkdir -p media jellyfin/config jellyfin/cache\n" : ""}docker compose up -d`;
}

/** Returns the systemd unit, equal to config/sluice-mount.service. */
export function mountUnit(mountDir: string): string {
  const folder = /^[\w./-]+$/.test(mountDir) ? mountDir : `"${mountDir.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;
  return [
    "[Unit]",
    "Description=The files of Sluice as a folder",
    "Wants=network-online.target",
    "After=network-online.target sluice.service",
    "",
    "[Service]",
    "Type=notify",
    `ExecStartPre=-/usr/bin/umount -l ${folder}`,
    `ExecStartPre=/usr/bin/mkdir -p ${folder}`,
    `ExecStart=/usr/bin/rclone mount sluice: ${folder} --config=/etc/sluice-rclone.conf --links --allow-other --allow-non-empty --dir-cache-time=10s --vfs-cache-mode=off`,
    `ExecStop=/usr/bin/umount ${folder}`,
    "Restart=always",
    "RestartSec=5",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
  ].join("\n");
}

/** Returns commands for root that write the login and the unit and start the mount. Running them again is safe. */
export function unitInstall(access: Access): string {
  return [
    "install -m 600 /dev/null /etc/sluice-rclone.conf",
    "cat > /etc/sluice-rclone.conf <<EOF",
    ...remoteLines(access),
    "EOF",
    "cat > /etc/systemd/system/sluice-mount.service <<'EOF'",
    mountUnit(access.mountDir),
    "EOF",
    "systemctl daemon-reload",
    "systemctl enable sluice-mount",
    "systemctl restart sluice-mount",
    `ls ${quoted(access.mountDir)}`,
  ].join("\n");
}

/** Returns a volume through which an existing container sees the mount, at the path that Sluice uses. */
export function containerVolume(host: Host, access: Access): string {
  return `- ${folderOn(host, access)}:${access.mountDir}:rslave`;
}

/** Returns a remote path mapping for Sonarr. Links need none, because their path is the same everywhere; a `.strm` folder may be elsewhere. */
export function pathMapping(access: Access, strmFolder: string): { host: string; remotePath: string } {
  return { host: new URL(treeUrl(access)).hostname, remotePath: `${strmFolder}/` };
}

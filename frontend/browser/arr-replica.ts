import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Field = { name: string; value?: unknown };

/** A download client in Sonarr's format. */
interface DownloadClient {
  id: number;
  name: string;
  fields: Field[];
}

/** The part of Sonarr's API for download clients. Its client test calls the client, as Sonarr's does. */
export interface ArrReplica {
  url: string;
  key: string;
  clients: readonly DownloadClient[];
  /** Whether the folder exists there; true at first. */
  hasFolder: boolean;
  stop(): Promise<void>;
}

/** Returns why Sonarr would refuse this SABnzbd client; null if it accepts it. */
export async function refusalOf(client: { host: string; port: string; urlBase: string; apiKey: string; category: string }): Promise<string | null> {
  const origin = `http://${client.host}:${client.port}${client.urlBase}/api`;
  const version = await fetch(`${origin}?mode=version&output=json`).catch(() => null);
  if (!version?.ok) return "Unable to connect to SABnzbd";
  const answer = await fetch(`${origin}?mode=get_config&apikey=${client.apiKey}&output=json`);
  const text = await answer.text();
  // A wrong key gets a plain-text answer.
  if (!text.startsWith("{")) return text;
  const { config } = JSON.parse(text) as { config: { categories: { name: string }[] } };
  return config.categories.some(({ name }) => name === client.category) ? null : "Category does not exist";
}

/** Starts a replica that sees the given folder with the probe link and its target file. */
export async function startArr(folder: string): Promise<ArrReplica> {
  const key = "a5f0c3d1e2b4968778695a4b3c2d1e0f";
  const clients: DownloadClient[] = [];
  const names = ["host", "port", "useSsl", "urlBase", "apiKey", "username", "password", "tvCategory"];
  const template = { enable: true, protocol: "usenet", priority: 1, name: "", fields: names.map((name) => ({ name })), implementation: "Sabnzbd", configContract: "SabnzbdSettings", tags: [], presets: [] };
  const value = (client: DownloadClient, name: string) => String(client.fields.find((field) => field.name === name)?.value ?? "");

  async function answer(method: string, url: URL, body: string): Promise<[number, unknown]> {
    const asked = `${method} ${url.pathname.replace(/^\/api\/v3/, "")}`;
    if (asked === "GET /system/status") return [200, { appName: "Sonarr", instanceName: "Sonarr", version: "4.0.9.2244", isDocker: false, urlBase: "" }];
    if (asked === "GET /downloadclient") return [200, clients];
    if (asked === "GET /downloadclient/schema") return [200, [template]];
    if (asked === "GET /remotepathmapping") return [200, []];
    if (asked === "GET /filesystem" && !replica.hasFolder) return [200, { parent: "/", directories: [], files: [] }];
    if (asked === "GET /filesystem") return [200, { parent: "/", directories: [{ type: "folder", name: folder.split("/").at(-1), path: `${folder}/` }], files: [{ type: "file", name: "README" }, { type: "file", name: "probe.mkv" }] }];
    const client = JSON.parse(body) as DownloadClient;
    if (asked === "POST /downloadclient/test") {
      const refusal = await refusalOf({ host: value(client, "host"), port: value(client, "port"), urlBase: value(client, "urlBase"), apiKey: value(client, "apiKey"), category: value(client, "tvCategory") });
      return refusal === null ? [200, {}] : [400, [{ propertyName: "Host", errorMessage: refusal, severity: "error", isWarning: false }]];
    }
    if (asked === "POST /downloadclient") client.id = clients.length + 1;
    const at = clients.findIndex((other) => other.id === client.id);
    if (at < 0) clients.push(client);
    else clients[at] = client;
    return [asked.startsWith("POST") ? 201 : 202, client];
  }

  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += String(part)));
    request.on("end", () => {
      void (async () => {
        const [status, node] = request.headers["x-api-key"] === key ? await answer(request.method ?? "", new URL(request.url ?? "", "http://arr"), body) : [401, {}];
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(node));
      })();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const replica: ArrReplica = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    clients,
    hasFolder: true,
    stop: () => new Promise((done) => server.close(() => done())),
  };
  return replica;
}

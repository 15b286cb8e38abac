import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type RunningMock, type RunningServer, setUp, startMock, startServer } from "./harness";

/** File id of the built-in clip. */
export const clipId = "d3305eed-0000-4000-8000-511ce0000001";

/** An NZB whose articles no provider has. */
export const deadNzb = `<?xml version="1.0" encoding="UTF-8"?>
<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"><file poster="a@b" date="1700000000" subject="&quot;gone.mkv&quot; yEnc (1/2)"><groups><group>alt.binaries.test</group></groups>
<segments><segment bytes="740000" number="1">gone-1@nowhere</segment><segment bytes="740000" number="2">gone-2@nowhere</segment></segments></file></nzb>`;

/** Calls the API as the administrator and returns its answer. */
export async function call<Answer>(server: RunningServer, cookie: string, method: string, where: string, body?: object): Promise<Answer> {
  const isForm = body instanceof FormData;
  const headers = { ...(isForm ? {} : { "Content-Type": "application/json" }), "X-Csrf": "1", Origin: new URL(server.url).origin, Cookie: cookie };
  const response = await fetch(`${server.url}/api/${where}`, { method, headers, ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}

/** A server with providers that have the clip and every release of {@link World.nzb}. */
export interface World {
  server: RunningServer;
  cookie: string;
  mock: RunningMock;
  folder: string;
  /** NZB of the posted clip. */
  clip: string;
  /** Creates an NZB of a layout and a size in MiB. The mock serves every seed, because article ids encode their content. */
  nzb(seed: number, options?: { size?: number; layout?: string }): Promise<string>;
  add(name: string, nzb: string, category: string): Promise<void>;
  /** Waits until this many imports have ended. */
  untilHistory(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a world with one provider per name. */
export async function startWorld(names: readonly string[], environment: Record<string, string> = {}): Promise<World> {
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-world-"));
  const server = await startServer({ environment });
  const cookie = await setUp(server);
  const clip = path.join(folder, "clip.mp4");
  const detail = await call<{ links: { signed: string } }>(server, cookie, "GET", `files/${clipId}`);
  await writeFile(clip, Buffer.from(await (await fetch(onServer(server, detail.links.signed))).arrayBuffer()));
  const mock = await startMock(`--media=${clip}`, `--nzb=${path.join(folder, "clip.nzb")}`, `--providers=${names.length}`, "--latency=20", "--jitter=4", "--max-conns=0");
  for (const [index, address] of mock.providers.entries()) {
    const [host = "", port = ""] = address.split(":");
    const use = index === 0 ? "primary" : "backup";
    await call(server, cookie, "POST", "providers", { host, port: Number(port), tls: false, user: "", password: "", name: names[index], maxConnections: 20, use, priority: index });
  }

  return {
    server,
    cookie,
    mock,
    folder,
    clip: await readFile(path.join(folder, "clip.nzb"), "utf8"),
    nzb: async (seed, { size = 4, layout = "plain" } = {}) => {
      const file = path.join(folder, `${layout}-${seed}.nzb`);
      const made = await startMock(`--seed=${seed}`, `--size=${size}`, `--layout=${layout}`, "--volumes=4", "--password=secret", `--nzb=${file}`);
      await made.stop();
      return readFile(file, "utf8");
    },
    add: async (name, nzb, category) => {
      const form = new FormData();
      form.append("category", category);
      form.append("file", new Blob([nzb]), `${name}.nzb`);
      await call(server, cookie, "POST", "queue", form);
    },
    untilHistory: (count) =>
      until(`${count} imports have ended`, async () => (await call<{ total: number }>(server, cookie, "GET", "history?limit=1")).total >= count),
    stop: async () => {
      await server.stop();
      await mock.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Polls until a condition holds, for at most a minute. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`It did not come to pass that ${what}.`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Rewrites a link of the server to the address that the tests use. */
export function onServer(server: RunningServer, link: string): string {
  const { pathname, search } = new URL(link, server.url);
  return `${new URL(server.url).origin}${pathname}${search}`;
}

/** Reads a file like a player, limited to some bytes per second. Returns a function that stops it. */
export async function playSlowly(world: World, id: string, player: string, bytesPerSecond: number): Promise<() => void> {
  const { links } = await call<{ links: { signed: string } }>(world.server, world.cookie, "GET", `files/${id}`);
  const stop = new AbortController();
  const response = await fetch(onServer(world.server, links.signed), { headers: { "User-Agent": player, Range: "bytes=0-" }, signal: stop.signal });
  const reader = response.body?.getReader();
  void (async () => {
    const began = Date.now();
    for (let read = 0; reader; ) {
      const { done, value } = await reader.read();
      if (done) return;
      read += value.length;
      const ahead = (read / bytesPerSecond) * 1_000 - (Date.now() - began);
      if (ahead > 0) await new Promise((wake) => setTimeout(wake, ahead));
    }
  })().catch(() => undefined);
  return () => stop.abort();
}

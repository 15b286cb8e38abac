import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type RunningServer, openPage, setUp, startBrowser, startMock, startServer } from "../harness";
import { call, clipId, onServer, until } from "../world";
import { note } from "./table";

const runs = 5;

let browser: Browser;
let folder: string;

/** Waits until the film at this address of the UI plays. */
async function untilPlaying(server: RunningServer, cookie: string, where: string): Promise<void> {
  const page = await openPage(browser, server, { cookie });
  await page.goto(where);
  await page.waitForFunction(() => (document.querySelector("video")?.currentTime ?? 0) > 0);
  await page.context().close();
}

describe("a first film", () => {
  beforeAll(async () => {
    browser = await startBrowser("--autoplay-policy=no-user-gesture-required");
    folder = await mkdtemp(path.join(tmpdir(), "sluice-first-"));
  });

  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("measures the way from an empty folder to the built-in clip, and to a film of a provider", { timeout: 240_000 }, async () => {
    const clips: number[] = [];
    const films: number[] = [];
    const clip = path.join(folder, "clip.mp4");
    for (let run = 0; run < runs; run++) {
      const began = performance.now();
      const server = await startServer();
      const cookie = await setUp(server);
      await untilPlaying(server, cookie, `files?play=${clipId}`);
      clips.push(performance.now() - began);
      if (run === 0) {
        const { links } = await call<{ links: { signed: string } }>(server, cookie, "GET", `files/${clipId}`);
        await writeFile(clip, Buffer.from(await (await fetch(onServer(server, links.signed))).arrayBuffer()));
      }
      await server.stop();
    }

    const nzb = path.join(folder, "film.nzb");
    const mock = await startMock(`--media=${clip}`, `--nzb=${nzb}`, "--latency=20", "--jitter=4", "--max-conns=0");
    const [host = "", port = ""] = (mock.providers[0] ?? "").split(":");
    const provider = { host, port: Number(port), tls: false, user: "", password: "" };
    for (let run = 0; run < runs; run++) {
      const began = performance.now();
      const server = await startServer();
      const cookie = await setUp(server);
      const test = await fetch(`${server.url}/api/providers/test`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Csrf": "1", Origin: server.url, Cookie: cookie },
        body: JSON.stringify({ id: null, ...provider }),
      });
      // Reads to the end, so that all steps of the test have run, including the speed.
      await test.text();
      await call(server, cookie, "POST", "providers", { ...provider, name: "Main", maxConnections: 20, use: "primary", priority: 0 });
      const form = new FormData();
      form.append("category", "movies");
      form.append("file", new Blob([await readFile(nzb)]), "Film.2026.nzb");
      await call(server, cookie, "POST", "queue", form);
      await until("the film is there", async () => (await call<{ total: number }>(server, cookie, "GET", "history?limit=1")).total > 0);
      const { items } = await call<{ items: { id: string }[] }>(server, cookie, "GET", "files?path=movies/Film.2026");
      await untilPlaying(server, cookie, `files/movies/Film.2026?play=${items[0]?.id ?? ""}`);
      films.push(performance.now() - began);
      await server.stop();
    }

    await mock.stop();
    note("empty folder until the built-in clip plays", clips, "ms", { goal: "2", most: 5_000 });
    note("empty folder, test of a provider and an NZB, until its film plays", films, "ms", { goal: "2", most: 20_000 });
  });
});

import { readFile } from "node:fs/promises";
import { get } from "node:http";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type World, call, onServer, startWorld } from "../world";
import { note, quantile } from "./table";

const watchers = 100;
const turns = 8;
const ticksPerSecond = 100;

let world: World;

/** Processor time of the server in ms, in the steps of the system. */
async function used(): Promise<number> {
  const fields = (await readFile(`/proc/${world.server.pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}

/** Follows what an overview and a queue follow; the answer ends it. */
function watch(): () => void {
  const request = get(`${world.server.url}/api/events?topics=stats,streams,providers,queue`, { headers: { Cookie: world.cookie } }, (answer) => answer.resume());
  request.on("error", () => undefined);
  return () => request.destroy();
}

describe("watchers", () => {
  beforeAll(async () => {
    world = await startWorld(["Main"]);
    await world.add("Film.2026", await world.nzb(9, { size: 300 }), "movies");
    await world.untilHistory(1);
  }, 120_000);

  afterAll(async () => world?.stop());

  it("measures what a hundred of them change of a playback", { timeout: 240_000 }, async () => {
    const { items } = await call<{ items: { id: string }[] }>(world.server, world.cookie, "GET", "files?path=movies/Film.2026");
    const { links } = await call<{ links: { signed: string } }>(world.server, world.cookie, "GET", `files/${items[0]?.id ?? ""}`);
    const read = async () => {
      const began = performance.now();
      const response = await fetch(onServer(world.server, links.signed));
      const reader = response.body?.getReader();
      let bytes = 0;
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) bytes += piece.value.length;
      return (performance.now() - began) / (bytes / 1e6);
    };
    const idle = async () => {
      const before = await used();
      await new Promise((done) => setTimeout(done, 5_000));
      return ((await used()) - before) / 50;
    };

    await read();
    const shares: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const alone = await read();
      const stops = Array.from({ length: watchers }, watch);
      await new Promise((done) => setTimeout(done, 500));
      const watched = await read();
      stops.forEach((stop) => stop());
      await new Promise((done) => setTimeout(done, 200));
      const again = await read();
      shares.push((100 * watched) / ((alone + again) / 2) - 100);
    }
    note("time of a film at full speed that 100 watchers add", shares, "%", { goal: "ADM-23", most: 1 });
    note("the same between two turns without watchers is uncertain by", [(quantile(shares, 0.75) - quantile(shares, 0.25)) / 2], "%");

    const alone = await idle();
    const stops = Array.from({ length: watchers }, watch);
    await new Promise((done) => setTimeout(done, 500));
    const watched = await idle();
    stops.forEach((stop) => stop());
    note("CPU of the server for 100 watchers, of one core", [watched - alone], "%");
  });
});

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type World, call, onServer, startWorld } from "../world";
import { note } from "./table";

const watchers = 100;
const turns = 5;

// Of the provider. Both cores stay half idle, as they do next to players, so the time of a film is the time of the line and its delays.
const lineMbit = 300;
const settleMs = 2_500;
const ticksPerSecond = 100;

let world: World;

/** Returns the processor time of the server in ms, in the ticks of the system. */
async function used(): Promise<number> {
  const fields = (await readFile(`/proc/${world.server.pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}

const follow = `
  const [url, cookie, count] = process.argv.slice(1);
  for (let at = 0; at < count; at++) require("http").get(url, { headers: { Cookie: cookie } }, (answer) => answer.resume());
`;

/** Follows the events of an overview and a queue a hundred times, in another process. Returns a function that ends it. */
async function watch(): Promise<() => Promise<void>> {
  const url = `${world.server.url}/api/events?topics=stats,streams,providers,queue`;
  const child = spawn(process.execPath, ["-e", follow, url, world.cookie, String(watchers)], { stdio: "ignore" });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  // Lets the first frames pass, because they are the largest.
  await new Promise((done) => setTimeout(done, settleMs));
  return async () => {
    child.kill();
    await ended;
    await new Promise((done) => setTimeout(done, 500));
  };
}

describe("watchers", () => {
  beforeAll(async () => {
    world = await startWorld(["Main"]);
    await world.add("Film.2026", await world.nzb(9, { size: 300 }), "movies");
    await world.untilHistory(1);
    await fetch(`http://${world.mock.control}/set?bandwidth=${lineMbit}`, { method: "POST" });
  }, 120_000);

  afterAll(async () => world?.stop());

  it("measures how a hundred of them affect a playback", { timeout: 400_000 }, async () => {
    const { items } = await call<{ items: { id: string }[] }>(world.server, world.cookie, "GET", "files?path=movies/Film.2026");
    const { links } = await call<{ links: { signed: string } }>(world.server, world.cookie, "GET", `files/${items[0]?.id ?? ""}`);
    const read = async () => {
      const [began, before] = [performance.now(), await used()];
      const response = await fetch(onServer(world.server, links.signed));
      const reader = response.body?.getReader();
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read());
      return { time: performance.now() - began, cpu: (await used()) - before };
    };
    const idle = async () => {
      const before = await used();
      await new Promise((done) => setTimeout(done, 5_000));
      return ((await used()) - before) / 50;
    };

    await read();
    const time: number[] = [];
    const cpu: number[] = [];
    const doubt: number[] = [];
    const added = (what: number, one: number, other: number) => (200 * what) / (one + other) - 100;
    for (let turn = 0; turn < turns; turn++) {
      const one = await read();
      const stop = await watch();
      const watched = await read();
      await stop();
      const other = await read();
      time.push(added(watched.time, one.time, other.time));
      cpu.push(added(watched.cpu, one.cpu, other.cpu));
      doubt.push(Math.abs(added(other.time, one.time, one.time)));
    }
    note(`time of a film over a line of ${lineMbit} Mbit/s that ${watchers} watchers add`, time, "%", { goal: "ADM-23", most: 1 });
    note("processor time of the server for it that they add", cpu, "%");
    note("how far two turns without watchers lie apart", doubt, "%");

    const alone = await idle();
    const stop = await watch();
    note(`CPU of the server for ${watchers} watchers beside nothing, of one core`, [(await idle()) - alone], "%");
    await stop();
  });
});

import { server } from "./server-watch";

const slowMs = 3_000;
const stuckMs = 12_000;
const retryMs = 500;
const mostRetryMs = 2_000;
const idleMs = 3_000;

const parts: LatePart<unknown>[] = [];

/** A part of the app that is loaded on first use, or ahead of it when the browser is idle. */
export class LatePart<Part> {
  readonly #load: () => Promise<Part>;
  readonly #listeners = new Set<() => void>();
  #part: Part | undefined;
  #wanted: Promise<Part> | undefined;

  /** @param isAhead Whether it is loaded ahead of use; false for parts that are large and seldom used. */
  constructor(load: () => Promise<Part>, isAhead = true) {
    this.#load = load;
    if (isAhead) parts.push(this);
  }

  /** The part; undefined until it is loaded. */
  readonly peek = (): Part | undefined => this.#part;

  /** Calls back once the part is loaded. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Loads the part for a caller that needs it. Never fails, because it retries when the server is back. */
  readonly get = (): Promise<Part> => (this.#wanted ??= this.#insist());

  /** Loads the part ahead of its use. A failure is ignored. */
  async prefetch(): Promise<void> {
    if (this.#part !== undefined || this.#wanted) return;
    try {
      this.#keep(await this.#load());
    } catch {
      // The first component that needs the part loads it again.
    }
  }

  async #insist(): Promise<Part> {
    for (let failures = 0; ; failures += 1) {
      if (this.#part !== undefined) return this.#part;
      const timers = this.#watch();
      try {
        return this.#keep(await this.#load());
      } catch {
        server.reportMissing(this);
        await untilWorthwhile(failures);
      } finally {
        timers.forEach(clearTimeout);
      }
    }
  }

  // A request that hangs does not fail, so timers detect it.
  #watch(): ReturnType<typeof setTimeout>[] {
    const look = async (isStuck: boolean) => {
      server.reportMissing(this);
      if (!(await server.askForBuild(isStuck))) server.reportAway();
    };
    return [setTimeout(() => void look(false), slowMs), setTimeout(() => void look(true), stuckMs)];
  }

  #keep(part: Part): Part {
    this.#part = part;
    server.found(this);
    this.#listeners.forEach((listener) => listener());
    return part;
  }
}

/** Waits until a retry may succeed: for the server, or with a growing delay if it refuses only this file. */
async function untilWorthwhile(failures: number): Promise<void> {
  if (await server.askForBuild()) {
    await new Promise((done) => setTimeout(done, Math.min(retryMs * 2 ** failures, mostRetryMs)));
    return;
  }
  await new Promise<void>((done) => {
    const stop = server.onBack(() => {
      stop();
      done();
    });
    server.reportAway();
  });
}

/** Loads all parts one by one while the browser is idle, so that they are here if the server restarts. */
export async function prefetchWhenIdle(): Promise<void> {
  await new Promise((done) => setTimeout(done, idleMs));
  // The list grows meanwhile, because a loaded page registers its own parts.
  for (let at = 0; at < parts.length; at += 1) {
    await new Promise<void>((done) => ("requestIdleCallback" in window ? requestIdleCallback(() => done()) : setTimeout(done, 50)));
    await parts[at]?.prefetch();
  }
}

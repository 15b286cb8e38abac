import { useSyncExternalStore } from "react";
import { baseUrl } from "./url-base";

/** The server answers; it does not; or it answers with a later build of these pages than the one that runs here. */
export type ServerState = "here" | "away" | "updated";

/** What a watch needs of its surroundings; tests put their own in. */
export interface WatchSurroundings {
  /** The build that the server has now, as a word; null if it does not answer. */
  build: () => Promise<string | null>;
  /** The build that runs in this tab; null if unknown, as in development. */
  ownBuild: string | null;
  /** Loads the tab again, at the address that was about to be opened. */
  reload: () => void;
  /** Whether this tab was reloaded for the build before. The answer also remembers it. */
  wasReloadedFor: (build: string) => boolean;
}

const retryMs = [250, 500, 1_000] as const;

/**
 * Knows whether the server is there. A request that fails calls `reportAway`; the watch then asks until it answers again, and tells
 * those that failed meanwhile. Nothing is asked while the server is there.
 */
export class ServerWatch {
  readonly #surroundings: WatchSurroundings;
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Set<() => void>();
  readonly #holds = new Set<() => boolean>();
  readonly #missing = new Set<object>();
  #state: ServerState = "here";
  #isAsking = false;

  constructor(surroundings: WatchSurroundings) {
    this.#surroundings = surroundings;
  }

  /** A part that is missing counts as a server that is away: whoever waits for it sees no difference. */
  readonly state = (): ServerState => (this.#state === "here" && this.#missing.size > 0 ? "away" : this.#state);

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls back each time the server is there again; the answer ends that. */
  readonly onBack = (handler: () => void): (() => void) => {
    this.#waiting.add(handler);
    return () => this.#waiting.delete(handler);
  };

  /** Names what would be lost by a reload, such as files that are being sent; the answer ends that. */
  readonly hold = (isNeeded: () => boolean): (() => void) => {
    this.#holds.add(isNeeded);
    return () => this.#holds.delete(isNeeded);
  };

  /** To be called when a call of the server failed without an answer. */
  reportAway(): void {
    this.#become("away");
    if (!this.#isAsking) void this.#ask();
  }

  /** To be called when the server answered, as when its event stream is open again. */
  reportBack(): void {
    if (this.#state === "away") void this.#compare();
  }

  /** Says that somebody waits for a part of these pages, until it is `found`. */
  reportMissing(part: object): void {
    this.#missing.add(part);
    this.#tell();
  }

  found(part: object): void {
    if (this.#missing.delete(part)) this.#tell();
  }

  /**
   * Asks after a file of this build did not come. Where the server has another build, the tab is loaded again, once and only if nothing would be
   * lost by it; else the page says so.
   * @param isStuck Whether the file is not coming although the server is there, which loading the tab again cures too.
   * @returns Whether the server answers.
   */
  async askForBuild(isStuck = false): Promise<boolean> {
    const build = await this.#surroundings.build();
    if (build === null) return false;
    if (this.#isOther(build) && !this.#reloadOnce(build)) this.#become("updated");
    else if (isStuck) this.#reloadOnce(`stuck ${build}`);
    return true;
  }

  /** Loads the tab again because somebody asked for it. */
  reload(): void {
    this.#surroundings.reload();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    for (let failures = 0; this.#state === "away"; failures += 1) {
      await new Promise((done) => setTimeout(done, retryMs[Math.min(failures, retryMs.length - 1)]));
      if (this.#state === "away") await this.#compare();
    }
    this.#isAsking = false;
  }

  async #compare(): Promise<void> {
    const build = await this.#surroundings.build();
    if (build === null || this.#state !== "away") return;
    this.#become(this.#isOther(build) ? "updated" : "here");
    for (const handler of [...this.#waiting]) handler();
  }

  #isOther(build: string): boolean {
    return this.#surroundings.ownBuild !== null && build !== this.#surroundings.ownBuild;
  }

  #reloadOnce(why: string): boolean {
    if ([...this.#holds].some((isNeeded) => isNeeded()) || this.#surroundings.wasReloadedFor(why)) return false;
    this.#surroundings.reload();
    return true;
  }

  #become(state: ServerState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#tell();
  }

  #tell(): void {
    this.#listeners.forEach((listener) => listener());
  }
}

const answerMs = 3_000;
const reloadedKey = "sluice.reloaded-for";

/** The script that a page of the server starts with: its name changes with every build. */
function buildOf(html: string): string | null {
  return /<link rel="modulepreload"[^>]*href="([^"]+)"/.exec(html)?.[1] ?? null;
}

async function buildOfServer(): Promise<string | null> {
  try {
    const response = await fetch(baseUrl(), { headers: { Accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(answerMs) });
    return response.ok ? (buildOf(await response.text()) ?? "") : null;
  } catch {
    return null;
  }
}

function wasReloadedFor(build: string): boolean {
  try {
    if (sessionStorage.getItem(reloadedKey) === build) return true;
    sessionStorage.setItem(reloadedKey, build);
    return false;
  } catch {
    // Without a memory a second reload could follow the first.
    return true;
  }
}

let goal: () => string | null = () => null;

/** Names the address to open when the tab is loaded again; null stays at the one of the tab. */
export function onReload(address: () => string | null): void {
  goal = address;
}

/** The watch of this tab. */
export const server = new ServerWatch({
  build: buildOfServer,
  ownBuild: document.querySelector("link[rel=modulepreload]")?.getAttribute("href") ?? null,
  reload: () => {
    const address = goal();
    if (address === null || address === location.href) location.reload();
    else location.assign(address);
  },
  wasReloadedFor,
});

/** Whether the server is there. */
export function useServerState(): ServerState {
  return useSyncExternalStore(server.subscribe, server.state);
}

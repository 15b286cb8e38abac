import { useSyncExternalStore } from "react";
import { baseUrl } from "./url-base";

/** The server answers, does not answer, or has a later build than this tab. */
export type ServerState = "here" | "away" | "updated";

/** Dependencies of the watch; tests replace them. */
export interface WatchSurroundings {
  /** Returns the build that the server has now; null if it does not answer. */
  build: () => Promise<string | null>;
  /** The build of this tab; null if unknown, as in development. */
  ownBuild: string | null;
  /** Reloads the tab at the address that was about to be opened. */
  reload: () => void;
  /** Whether this tab was already reloaded for this build. Also records it. */
  wasReloadedFor: (build: string) => boolean;
}

const retryMs = [250, 500, 1_000] as const;

/**
 * Tracks whether the server answers. A failed request calls `reportAway`; the watch then polls until the server answers again and notifies
 * the waiting callers. It does not poll while the server answers.
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

  /** A missing part counts as an absent server, because whoever waits for it sees no difference. */
  readonly state = (): ServerState => (this.#state === "here" && this.#missing.size > 0 ? "away" : this.#state);

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls back each time the server answers again. Returns the unsubscribe function. */
  readonly onBack = (handler: () => void): (() => void) => {
    this.#waiting.add(handler);
    return () => this.#waiting.delete(handler);
  };

  /** Prevents a reload while it would lose something, such as files being sent. Returns a function that ends this. */
  readonly hold = (isNeeded: () => boolean): (() => void) => {
    this.#holds.add(isNeeded);
    return () => this.#holds.delete(isNeeded);
  };

  /** Must be called when a request failed without an answer. */
  reportAway(): void {
    this.#become("away");
    if (!this.#isAsking) void this.#ask();
  }

  /** Must be called when the server answered, for example when its event stream opens. */
  reportBack(): void {
    if (this.#state === "away") void this.#compare();
  }

  /** Reports that a part of the app is missing, until `found` is called. */
  reportMissing(part: object): void {
    this.#missing.add(part);
    this.#tell();
  }

  found(part: object): void {
    if (this.#missing.delete(part)) this.#tell();
  }

  /**
   * Asks for the server's build because a file of this build did not come. If it is another one, reloads the tab, once and only if nothing would
   * be lost; otherwise the page reports the update.
   * @param isStuck Whether the file does not come although the server answers, which a reload cures too.
   * @returns Whether the server answers.
   */
  async askForBuild(isStuck = false): Promise<boolean> {
    const build = await this.#surroundings.build();
    if (build === null) return false;
    if (this.#isOther(build) && !this.#reloadOnce(build)) this.#become("updated");
    else if (isStuck) this.#reloadOnce(`stuck ${build}`);
    return true;
  }

  /** Reloads the tab at the user's request. */
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

/** Returns the entry script of a page, whose name changes with every build. */
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
    // Without storage a second reload could follow the first.
    return true;
  }
}

let goal: () => string | null = () => null;

/** Sets the address to open on a reload; null stays at that of the tab. */
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

export function useServerState(): ServerState {
  return useSyncExternalStore(server.subscribe, server.state);
}

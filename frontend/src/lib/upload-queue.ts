import { useSyncExternalStore } from "react";
import { type Schema, postForm } from "./api-client";
import { ApiProblem } from "./api-problem";
import { beginsLikeNzb, isNzbName } from "./dropped-files";
import { tellUploads } from "./first-touch";
import { server } from "./server-watch";

/** What the server says of an upload: ids and names of the items that it became. */
export type Accepted = Schema<"QueueAdded">;

/** A file that was not taken, and why. */
export interface Refused {
  name: string;
  reason: string;
}

/** How uploads stand since the last time that none was left. */
export interface UploadState {
  total: number;
  /** Files that were sent and taken. */
  accepted: number;
  /** Items that they became and that have not failed at once: an archive may hold several. */
  items: { ids: readonly string[]; names: readonly string[] };
  refused: readonly Refused[];
  /** Files that wait or are being sent. */
  left: number;
  /** The server's sentence while it takes nothing more, and when it is asked again; null otherwise. */
  paused: { reason: string; until: number } | null;
}

/** What is sent with a file; empty words are left out. */
export interface UploadOptions {
  category?: string;
  password?: string;
  priority?: string;
}

type Send = (file: File, signal: AbortSignal, options: UploadOptions) => Promise<Accepted>;

interface Waiting {
  file: File;
  options: UploadOptions;
}

const defaultPauseSeconds = 30;
const absentSeconds = 2;
/** A server that is not there or starts, and a disk or queue that is full: all of these pass. */
const isPassing = new Set([0, 429, 503, 507]);
const none: UploadState = { total: 0, accepted: 0, items: { ids: [], names: [] }, refused: [], left: 0, paused: null };

/**
 * Sends files one request each, one after the other: the server puts them into the queue in the order in which they arrive. A full disk or queue (507, 429) pauses all until the server wants to be asked again, and so does
 * a server that starts anew; any other refusal concerns its file alone.
 */
export class UploadQueue {
  readonly #send: Send;
  readonly #listeners = new Set<() => void>();
  #waiting: Waiting[] = [];
  #running = 0;
  #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state = none;

  constructor(send: Send) {
    this.#send = send;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): UploadState => this.#state;

  /** Adds files, and those that are refused at once with their reasons. */
  add(files: readonly File[], refused: readonly Refused[] = [], options: UploadOptions = {}): void {
    const before = this.#state.left === 0 ? none : this.#state;
    this.#waiting.push(...files.map((file) => ({ file, options })));
    this.#change({ ...before, total: before.total + files.length + refused.length, refused: [...before.refused, ...refused] });
    this.#next();
  }

  /** Forgets what waits and ends what is being sent. */
  cancel(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    clearTimeout(this.#timer);
    this.#waiting = [];
    this.#change({ paused: null });
  }

  #next(): void {
    if (this.#running > 0 || this.#state.paused !== null) return;
    const next = this.#waiting.shift();
    if (!next) return;
    this.#running += 1;
    void this.#upload(next, this.#stop.signal);
  }

  async #upload(next: Waiting, signal: AbortSignal): Promise<void> {
    try {
      const taken = await this.#send(next.file, signal, next.options);
      this.#finish(this.#with(next, taken));
    } catch (error) {
      if (signal.aborted) this.#finish({});
      else this.#refuse(next, ApiProblem.from(error));
    }
  }

  // What is no NZB is taken too, and has failed by then.
  #with({ file }: Waiting, { ids, names, failures }: Accepted): Partial<UploadState> {
    const { accepted, items, refused } = this.#state;
    const isGood = (_: unknown, at: number) => failures[at] === "";
    const bad = failures.flatMap((reason, at) => (reason === "" ? [] : [{ name: names[at] || file.name, reason }]));
    return {
      accepted: accepted + (bad.length === 0 ? 1 : 0),
      items: { ids: [...items.ids, ...ids.filter(isGood)], names: [...items.names, ...names.filter(isGood)] },
      refused: [...refused, ...bad],
    };
  }

  #refuse(next: Waiting, problem: ApiProblem): void {
    if (!isPassing.has(problem.status)) {
      this.#finish({ refused: [...this.#state.refused, { name: next.file.name, reason: problem.title }] });
      return;
    }
    this.#waiting.unshift(next);
    const wait = (problem.retryAfter ?? (problem.status === 0 ? absentSeconds : defaultPauseSeconds)) * 1_000;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#change({ paused: null });
      this.#next();
    }, wait);
    this.#finish({ paused: { reason: problem.title, until: Date.now() + wait } });
  }

  #finish(change: Partial<UploadState>): void {
    this.#running -= 1;
    this.#change(change);
    this.#next();
  }

  #change(change: Partial<UploadState>): void {
    this.#state = { ...this.#state, ...change, left: this.#waiting.length + this.#running };
    this.#listeners.forEach((listener) => listener());
  }
}

/** The uploads of this tab. */
export const uploads = new UploadQueue((file, signal, options) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(options)) if (value) form.append(name, value);
  form.append("file", file, file.name);
  return postForm<Accepted>("api/queue", form, signal);
});

server.hold(() => uploads.state().left > 0);

/** Sends those files of a drop that may be NZBs, by their names and how they begin; the others are refused with the reason that is given. */
export async function queueFiles(files: readonly File[], reason: string, options: UploadOptions = {}): Promise<void> {
  tellUploads();
  const isGood = await Promise.all(files.map(async (file) => isNzbName(file.name) && (await beginsLikeNzb(file))));
  uploads.add(
    files.filter((_, at) => isGood[at]),
    files.filter((_, at) => !isGood[at]).map((file) => ({ name: file.name, reason })),
    options,
  );
}

/** How uploads stand. */
export function useUploads(): UploadState {
  return useSyncExternalStore(uploads.subscribe, uploads.state);
}

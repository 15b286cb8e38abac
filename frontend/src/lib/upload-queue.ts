import { useSyncExternalStore } from "react";
import { type Schema, postForm } from "./api-client";
import { ApiProblem } from "./api-problem";
import { beginsLikeNzb, isNzbName } from "./dropped-files";
import { tellUploads } from "./first-touch";
import { server } from "./server-watch";

/** The server's answer to an upload: ids and names of the new items. */
export type Accepted = Schema<"QueueAdded">;

/** A file that was not queued, and why. */
export interface Refused {
  name: string;
  reason: string;
}

/** Progress of the uploads since none was pending. */
export interface UploadState {
  total: number;
  /** Files that the server has accepted. */
  accepted: number;
  /** Their items, without those that failed at once. An archive may hold several. */
  items: { ids: readonly string[]; names: readonly string[] };
  refused: readonly Refused[];
  /** Files that wait or are being sent. */
  left: number;
  /** The server's reason while it accepts nothing, and the time of the next try; null otherwise. */
  paused: { reason: string; until: number } | null;
}

/** Values that are sent with a file; empty ones are left out. */
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
/** Statuses of a temporary refusal: the server is absent or starting, or its disk or queue is full. */
const isPassing = new Set([0, 429, 503, 507]);
const none: UploadState = { total: 0, accepted: 0, items: { ids: [], names: [] }, refused: [], left: 0, paused: null };

/**
 * Sends files one after the other, because the server queues them in the order of arrival. A full disk or queue (507, 429) or a server that
 * is starting pauses all files for as long as the server asks; any other refusal concerns its file alone.
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

  /** Adds files to send, and files that are already refused with their reasons. */
  add(files: readonly File[], refused: readonly Refused[] = [], options: UploadOptions = {}): void {
    const before = this.#state.left === 0 ? none : this.#state;
    this.#waiting.push(...files.map((file) => ({ file, options })));
    this.#change({ ...before, total: before.total + files.length + refused.length, refused: [...before.refused, ...refused] });
    this.#next();
  }

  /** Drops the waiting files and aborts the running upload. */
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

  // The server accepts a file that is not an NZB too, and reports its failure in the answer.
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

/** Sends the dropped files that can be NZBs by their names and first bytes, and refuses the others with the given reason. */
export async function queueFiles(files: readonly File[], reason: string, options: UploadOptions = {}): Promise<void> {
  tellUploads();
  const isGood = await Promise.all(files.map(async (file) => isNzbName(file.name) && (await beginsLikeNzb(file))));
  uploads.add(
    files.filter((_, at) => isGood[at]),
    files.filter((_, at) => !isGood[at]).map((file) => ({ name: file.name, reason })),
    options,
  );
}

export function useUploads(): UploadState {
  return useSyncExternalStore(uploads.subscribe, uploads.state);
}

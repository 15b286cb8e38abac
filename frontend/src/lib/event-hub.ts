/** State of the event stream: unused or tab hidden, connecting, open, broken. */
export type ConnectionState = "idle" | "connecting" | "open" | "lost";

type Listener = (frame: unknown) => void;

/** Dependencies of the hub; tests replace them. */
export interface HubSurroundings {
  open(url: string): EventSource;
  isVisible(): boolean;
  urlOf(path: string): string;
}

const gatherMs = 20;
const retryMs = [500, 1_000, 2_000] as const;

/**
 * The only event stream of this tab (ADM-20 to ADM-23), for all subscribed topics. It is closed while the tab is hidden and resumes after the
 * last id: `?since=` brings the missed events, or a snapshot if they are too old.
 */
export class EventHub {
  readonly #surroundings: HubSurroundings;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #watchers = new Set<() => void>();
  #source: EventSource | null = null;
  #topics = "";
  #lastId = "";
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state: ConnectionState = "idle";

  /** Called if the stream cannot be opened, for example because the session has expired. */
  onRefused: () => void = () => undefined;

  constructor(surroundings: HubSurroundings) {
    this.#surroundings = surroundings;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Subscribes to a topic. Returns the unsubscribe function. */
  subscribe(topic: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    this.#schedule(gatherMs);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
      this.#schedule(gatherMs);
    };
  }

  /** Calls the watcher on each change of {@link state}. */
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Must be called when the tab is shown or hidden. */
  visibilityChanged(): void {
    this.#failures = 0;
    this.#apply();
  }

  // A page change unmounts and mounts components in one go. The delay opens the stream once for both.
  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#apply(), ms);
  }

  #apply(): void {
    clearTimeout(this.#timer);
    const topics = [...this.#listeners.keys()].sort().join(",");
    if (topics === "" || !this.#surroundings.isVisible()) {
      this.#close();
      this.#become("idle");
      return;
    }
    if (this.#source && topics === this.#topics) return;
    this.#close();
    this.#open(topics);
  }

  #open(topics: string): void {
    this.#topics = topics;
    const since = this.#lastId === "" ? "" : `&since=${encodeURIComponent(this.#lastId)}`;
    const source = this.#surroundings.open(this.#surroundings.urlOf(`api/events?topics=${encodeURIComponent(topics)}${since}`));
    this.#source = source;
    if (this.#state !== "lost") this.#become("connecting");
    source.onopen = () => {
      this.#failures = 0;
      this.#become("open");
    };
    source.onerror = () => this.#fail(source);
    for (const topic of topics.split(",")) source.addEventListener(topic, (event) => this.#receive(topic, event as MessageEvent<string>));
  }

  // Replaces the browser's own retry, which waits for seconds and does not follow the topics.
  #fail(source: EventSource): void {
    if (source !== this.#source) return;
    const wasOpen = this.#failures === 0 && this.#state === "open";
    this.#close();
    this.#become("lost");
    if (!wasOpen) this.onRefused();
    this.#schedule(retryMs[Math.min(this.#failures, retryMs.length - 1)] ?? retryMs[0]);
    this.#failures += 1;
  }

  #receive(topic: string, event: MessageEvent<string>): void {
    if (event.lastEventId !== "") this.#lastId = event.lastEventId;
    const frame: unknown = JSON.parse(event.data);
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener(frame);
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
  }

  #become(state: ConnectionState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#watchers.forEach((watcher) => watcher());
  }
}

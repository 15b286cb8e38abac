/** How the event stream is: nobody listens or the tab is hidden, it is being opened, it is open, it broke. */
export type ConnectionState = "idle" | "connecting" | "open" | "lost";

type Listener = (frame: unknown) => void;

/** What the hub needs of its surroundings; tests put their own in. */
export interface HubSurroundings {
  open(url: string): EventSource;
  isVisible(): boolean;
  urlOf(path: string): string;
}

const gatherMs = 20;
const retryMs = [500, 1_000, 2_000] as const;

/**
 * The one event stream of this tab (ADM-20 to ADM-23), for the union of the topics that are listened to. It is closed while the tab is hidden,
 * and goes on from the last id: `?since=` brings what came meanwhile, or a snapshot where that is too long ago.
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

  /** Called when the stream cannot be opened, which is also how an ended session shows. */
  onRefused: () => void = () => undefined;

  constructor(surroundings: HubSurroundings) {
    this.#surroundings = surroundings;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Listens to a topic; the answer ends that. */
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

  /** Tells of changes of {@link state}. */
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** To be called when the tab is shown or hidden. */
  visibilityChanged(): void {
    this.#failures = 0;
    this.#apply();
  }

  // Pages that change places unmount and mount in one go: the stream is opened once for both.
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

  // The browser's own retry waits for seconds and does not follow the topics, so this one replaces it.
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

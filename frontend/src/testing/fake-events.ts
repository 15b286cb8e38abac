import { vi } from "vitest";

/** The event stream of the tab, in place of the browser's. */
export interface FakeEvents {
  /** Sends a frame to the stream that is open. */
  send(topic: string, frame: object): void;
  /** Whether a stream listens to a topic. */
  hears(topic: string): boolean;
}

class FakeSource extends EventTarget {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readonly topics: string[];

  constructor(url: string) {
    super();
    this.topics = (new URL(url).searchParams.get("topics") ?? "").split(",");
    opened.push(this);
  }

  close(): void {
    opened = opened.filter((source) => source !== this);
  }
}

let opened: FakeSource[] = [];

/** Puts streams in place of the browser's that say what the test says. The stream of a test before may still be open: a tab has but one. */
export function fakeEvents(): FakeEvents {
  vi.stubGlobal("EventSource", FakeSource);
  return {
    send(topic, frame) {
      opened.at(-1)?.dispatchEvent(new MessageEvent(topic, { data: JSON.stringify(frame) }));
    },
    hears: (topic) => opened.at(-1)?.topics.includes(topic) ?? false,
  };
}

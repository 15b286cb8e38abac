import { vi } from "vitest";

/** The event stream of the tab, in place of the browser's. */
export interface FakeEvents {
  /** Sends a frame to the stream that is open. */
  send(topic: string, frame: object): void;
  /** Whether a stream listens to a topic. */
  hears(topic: string): boolean;
}

let open: (EventTarget & { topics: string[] }) | null = null;

/** Puts streams in place of the browser's that say what the test says. The stream of a test before may still be open: a tab has but one. */
export function fakeEvents(): FakeEvents {
  class Fake extends EventTarget {
    onopen: (() => void) | null = null;
    onerror: (() => void) | null = null;
    readonly topics: string[];

    constructor(url: string) {
      super();
      this.topics = (new URL(url).searchParams.get("topics") ?? "").split(",");
      open = this;
    }

    close(): void {
      if (open === this) open = null;
    }
  }
  vi.stubGlobal("EventSource", Fake);
  return {
    send(topic, frame) {
      open?.dispatchEvent(new MessageEvent(topic, { data: JSON.stringify(frame) }));
    },
    hears: (topic) => open?.topics.includes(topic) ?? false,
  };
}

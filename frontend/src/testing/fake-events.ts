import { vi } from "vitest";

/** Controls the event stream of the tab in place of the server. */
export interface FakeEvents {
  /** Sends a frame to the open stream. */
  send(topic: string, frame: object): void;
  /** Whether the open stream subscribes to a topic. */
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

/** Replaces EventSource with streams that the test controls. A stream of an earlier test may still be open, so the newest one counts. */
export function fakeEvents(): FakeEvents {
  vi.stubGlobal("EventSource", FakeSource);
  return {
    send(topic, frame) {
      opened.at(-1)?.dispatchEvent(new MessageEvent(topic, { data: JSON.stringify(frame) }));
    },
    hears: (topic) => opened.at(-1)?.topics.includes(topic) ?? false,
  };
}

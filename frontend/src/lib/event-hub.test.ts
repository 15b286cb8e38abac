import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventHub } from "./event-hub";

class FakeSource extends EventTarget {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  isClosed = false;

  constructor(readonly url: string) {
    super();
  }

  close() {
    this.isClosed = true;
  }

  send(topic: string, id: string, frame: object) {
    this.dispatchEvent(new MessageEvent(topic, { data: JSON.stringify(frame), lastEventId: id }));
  }
}

let sources: FakeSource[] = [];
let isVisible = true;

function newHub() {
  return new EventHub({
    open: (url) => {
      const source = new FakeSource(url);
      sources.push(source);
      return source as unknown as EventSource;
    },
    isVisible: () => isVisible,
    urlOf: (path) => `http://host/${path}`,
  });
}

const last = () => sources.at(-1) as FakeSource;

describe("EventHub", () => {
  beforeEach(() => {
    sources = [];
    isVisible = true;
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it("opens one stream for the union of the topics", () => {
    const hub = newHub();
    hub.subscribe("stats", () => undefined);
    hub.subscribe("queue", () => undefined);
    hub.subscribe("queue", () => undefined);
    vi.runAllTimers();
    expect(sources.map((source) => source.url)).toEqual(["http://host/api/events?topics=queue%2Cstats"]);
  });

  it("passes a frame only to the listeners of its topic", () => {
    const hub = newHub();
    const onStats = vi.fn();
    const onQueue = vi.fn();
    hub.subscribe("stats", onStats);
    hub.subscribe("queue", onQueue);
    vi.runAllTimers();
    last().send("stats", "1", { kind: "snapshot", seq: 1 });
    expect(onStats).toHaveBeenCalledExactlyOnceWith({ kind: "snapshot", seq: 1 });
    expect(onQueue).not.toHaveBeenCalled();
  });

  it("resumes from the last id when the topics change", () => {
    const hub = newHub();
    hub.subscribe("stats", () => undefined);
    vi.runAllTimers();
    last().send("stats", "17", { kind: "snapshot", seq: 17 });
    const first = last();
    hub.subscribe("queue", () => undefined);
    vi.runAllTimers();
    expect(first.isClosed).toBe(true);
    expect(last().url).toContain("&since=17");
  });

  it("keeps its stream if the next page has the same topics", () => {
    const hub = newHub();
    const leave = hub.subscribe("stats", () => undefined);
    vi.runAllTimers();
    leave();
    hub.subscribe("stats", () => undefined);
    vi.runAllTimers();
    expect(sources).toHaveLength(1);
    expect(last().isClosed).toBe(false);
  });

  it("closes while the tab is hidden and resumes afterwards", () => {
    const hub = newHub();
    hub.subscribe("stats", () => undefined);
    vi.runAllTimers();
    last().send("stats", "5", { kind: "snapshot", seq: 5 });
    isVisible = false;
    hub.visibilityChanged();
    expect(last().isClosed).toBe(true);
    expect(hub.state).toBe("idle");
    isVisible = true;
    hub.visibilityChanged();
    expect(sources).toHaveLength(2);
    expect(last().url).toContain("&since=5");
  });

  it("reconnects after a failure, and reports it meanwhile", () => {
    const hub = newHub();
    const states: string[] = [];
    hub.watch(() => states.push(hub.state));
    hub.onRefused = vi.fn();
    hub.subscribe("stats", () => undefined);
    vi.runAllTimers();
    last().onopen?.();
    last().onerror?.();
    expect(hub.onRefused).not.toHaveBeenCalled();
    vi.runAllTimers();
    last().onerror?.();
    expect(hub.onRefused).toHaveBeenCalledTimes(1);
    vi.runAllTimers();
    last().onopen?.();
    expect(states).toEqual(["connecting", "open", "lost", "open"]);
    expect(sources).toHaveLength(3);
  });
});

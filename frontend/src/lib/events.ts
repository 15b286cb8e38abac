import { skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import type { Schema } from "./api-client";
import { type ConnectionState, EventHub } from "./event-hub";
import { server } from "./server-watch";
import { urlOf } from "./url-base";

type Payloads = Schema<"EventPayloads">;

export type Topic =
  | "setup" | "stats" | "streams" | `stream:${string}` | "providers" | "files" | "queue" | "history" | "health" | "bench" | "logs" | "config" | "backups" | "clients";

type PayloadName<T extends Topic> = T extends `stream:${string}` ? "stream" : T;

/** Fields of every frame. */
export interface FrameHead {
  kind: "snapshot" | "delta";
  seq: number;
}

export type Frame<T extends Topic> = PayloadName<T> extends keyof Payloads ? NonNullable<Payloads[PayloadName<T>]> : FrameHead;

/** The event stream of this tab. */
export const hub = new EventHub({
  open: (url) => new EventSource(url),
  isVisible: () => document.visibilityState !== "hidden",
  urlOf,
});

document.addEventListener("visibilitychange", () => hub.visibilityChanged());

hub.watch(() => {
  if (hub.state === "lost") server.reportAway();
  else if (hub.state === "open") server.reportBack();
});

/** Calls the handler for each frame of a topic while the component is mounted; null subscribes to nothing. */
export function useTopic<T extends Topic>(topic: T | null, handler: (frame: Frame<T>) => void): void {
  const onFrame = useEffectEvent(handler);
  useEffect(() => (topic === null ? undefined : hub.subscribe(topic, (frame) => onFrame(frame as Frame<T>))), [topic]);
}

/** Returns the last frame of a sampled topic from the query cache; undefined before the first. */
export function useTopicFrame<T extends Topic>(topic: T): Frame<T> | undefined {
  const client = useQueryClient();
  useTopic(topic, (frame) => client.setQueryData(["topic", topic], frame));
  return useQuery<Frame<T>>({ queryKey: ["topic", topic], queryFn: skipToken, staleTime: Number.POSITIVE_INFINITY }).data;
}

export function useConnectionState(): ConnectionState {
  return useSyncExternalStore(hub.watch, () => hub.state);
}

/** The rows of a page after a delta. */
export interface Folded<Row> {
  items: Row[];
  /** Changed rows that the page does not show. It reloads if they could belong there. */
  unknown: Row[];
  /** Number of shown rows that were removed. */
  removed: number;
}

/** Replaces changed rows in place and drops removed ones. Unchanged rows stay the same objects. */
export function foldRows<Row extends { id: string }>(items: readonly Row[], changed: readonly Row[], removed: readonly string[]): Folded<Row> {
  const gone = new Set(removed);
  const news = new Map(changed.map((row) => [row.id, row]));
  const kept = items.filter((row) => !gone.has(row.id));
  const folded = kept.map((row) => news.get(row.id) ?? row);
  kept.forEach((row) => news.delete(row.id));
  return { items: folded, unknown: [...news.values()], removed: items.length - kept.length };
}

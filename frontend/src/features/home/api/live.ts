import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { type Frame, useTopic, useTopicFrame } from "@/lib/events";
import { type StatWindow, addSample, isGap } from "../samples";
import { type Kept, providersQuery, statsQuery } from "./queries";

type Parts = Pick<Schema<"Stats">, "figures" | "attention" | "steps">;

/** The last parts from events with their sequence numbers, because an answer may contain older ones. */
type Told = { [Name in keyof Parts]?: { seq: number; value: Parts[Name] } };

/** Loads the throughput of a window and keeps it up to date every second. */
export function useStats(window: StatWindow) {
  const client = useQueryClient();
  const { queryKey } = statsQuery(window);
  const [told, setTold] = useState<Told>({});
  const query = useQuery({ ...statsQuery(window), placeholderData: keepPreviousData });
  useTopic("stats", (frame) => {
    const before = client.getQueryData<Kept>(queryKey);
    client.setQueryData<Kept>(queryKey, (kept) => kept && { ...kept, now: frame.sample, ...addSample(kept, frame.sample, window) });
    if (frame.figures || frame.attention || frame.steps) setTold((known) => ({ ...known, ...partsOf(frame) }));
    if (isGap(before?.pending.at(-1) ?? before?.samples.at(-1), frame.sample, window)) void client.invalidateQueries({ queryKey });
  });
  const { data } = query;
  const stats = useMemo(() => data && { ...data, ...newer(data, told) }, [data, told]);
  return { stats, error: query.error, retry: query.refetch };
}

function partsOf({ seq, figures, attention, steps }: Frame<"stats">): Told {
  return {
    ...(figures && { figures: { seq, value: figures } }),
    ...(attention && { attention: { seq, value: attention } }),
    ...(steps && { steps: { seq, value: steps } }),
  };
}

/** Returns the newer version of each part. */
export function newer(data: Parts & { seq: number }, told: Told): Parts {
  const { figures, attention, steps } = told;
  return {
    figures: figures && figures.seq > data.seq ? figures.value : data.figures,
    attention: attention && attention.seq > data.seq ? attention.value : data.attention,
    steps: steps && steps.seq > data.seq ? steps.value : data.steps,
  };
}

/** Returns the providers; events bring all of them every two seconds. */
export function useProviders() {
  const frame = useTopicFrame("providers");
  const query = useQuery(providersQuery);
  return { items: frame?.items ?? query.data?.items, error: query.error, retry: query.refetch };
}

/** Makes the server retry a failed provider. The next frame shows the result. */
export function askAgain(id: string) {
  return dataOf(api.POST("/api/providers/{id}/reset", { params: { path: { id } }, body: { what: "breaker" } }));
}

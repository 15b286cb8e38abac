import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { attempt } from "@/lib/attempt";
import { useTopic, useTopicFrame } from "@/lib/events";
import { listChanged, useRefetch } from "@/lib/live-list";
import { queryClient } from "@/lib/query-client";
import { toast } from "@/lib/toast";
import { t } from "../attention-en";
import { homeKey, homeQuery } from "./home-query";

export type Home = Schema<"Home">;
export type HomeNeed = Schema<"HomeNeed">;
export type HomeFilm = Schema<"HomeFilm">;

/** Home at this moment: events bring playbacks and problems every second, and changed lists are loaded again. */
export function useHome() {
  const query = useQuery(homeQuery);
  const refetch = useRefetch(homeKey);
  const seq = query.data?.seq ?? 0;
  const isNewer = (frame: { seq: number; kind: string }) => frame.kind === "delta" && frame.seq > seq;
  useTopic("queue", (frame) => isNewer(frame) && refetch());
  useTopic("history", (frame) => isNewer(frame) && refetch());
  useTopic("files", (frame) => isNewer(frame) && refetch());
  const streams = useTopicFrame("streams");
  const stats = useTopicFrame("stats");
  const home = useMemo(() => {
    if (!query.data) return undefined;
    const problems = stats?.attention?.filter((row) => row.kind !== "log") ?? query.data.problems;
    return { ...query.data, problems, steps: stats?.steps ?? query.data.steps, playing: streams?.items ?? query.data.playing, scans: streams?.scans ?? [] };
  }, [query.data, streams, stats]);
  return { home, sample: stats?.sample, error: query.error, retry: () => void query.refetch() };
}

/** Retries all imports that failed for one reason. */
export async function retryFailed(reason: Schema<"FailureReason"> | null, onShow: () => void): Promise<void> {
  const filter = { result: "failed" as const, ...(reason === null ? {} : { reason }) };
  const retried = await attempt(dataOf(api.POST("/api/history/retry", { body: { filter } })), t("retry-failed"));
  listChanged("history");
  if (retried) toast({ tone: "ok", title: t("retried", { count: retried.count }), action: { label: t("show-queue"), run: onShow } });
  await queryClient.invalidateQueries({ queryKey: homeKey });
}

/** Hides a need until there is news about it. */
export async function markSeen({ id, at }: HomeNeed): Promise<void> {
  queryClient.setQueryData(homeQuery.queryKey, (home) => home && { ...home, needs: home.needs.filter((need) => need.id !== id) });
  await attempt(api.POST("/api/home/seen", { body: { id, at } }), t("seen-failed"));
  await queryClient.invalidateQueries({ queryKey: homeKey });
}

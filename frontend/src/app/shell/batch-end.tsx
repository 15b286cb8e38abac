import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { api, dataOf } from "@/lib/api-client";
import { useTopic } from "@/lib/events";
import { toast } from "@/lib/toast";
import { t } from "../en";

const mostRows = 500;

/** Follows the imports of one drop until they end, and reports in one toast how many are ready to play. */
export function BatchEnd({ toastId, ids }: { toastId: string; ids: readonly string[] }) {
  const navigate = useNavigate();
  const mine = useMemo(() => new Set(ids), [ids]);
  const [told, setTold] = useState<ReadonlyMap<string, boolean>>(new Map());
  const listed = useQuery({
    queryKey: ["batch", ids[0]],
    queryFn: ({ signal }) => dataOf(api.GET("/api/history", { params: { query: { limit: mostRows } }, signal })),
    staleTime: 0,
  });
  const ended = useMemo(() => {
    const rows = listed.data?.items.filter((row) => mine.has(row.id)).map((row) => [row.id, row.result === "completed"] as const) ?? [];
    return new Map([...rows, ...told]);
  }, [listed.data, mine, told]);
  const isOver = ended.size >= mine.size;
  useTopic(isOver ? null : "history", (frame) => {
    if (frame.changed === null) return void listed.refetch();
    const news = frame.changed.filter((row) => mine.has(row.id));
    if (news.length > 0) setTold((before) => new Map([...before, ...news.map((row) => [row.id, row.result === "completed"] as const)]));
  });

  const tell = useEffectEvent(() => {
    const ready = [...ended.values()].filter(Boolean).length;
    const failed = ended.size - ready;
    if (failed === 0) return void toast({ id: toastId, tone: "ok", title: t("batch-ready", { count: ready }) });
    const review = { label: t("review"), run: () => void navigate("/history?result=failed") };
    toast({ id: toastId, tone: "bad", title: ready === 0 ? t("batch-failed", { count: failed }) : t("batch-mixed", { ready, failed }), action: review, seconds: 30 });
  });
  useEffect(() => {
    if (isOver) tell();
  }, [isOver]);
  return null;
}

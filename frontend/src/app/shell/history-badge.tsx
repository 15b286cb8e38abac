import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "@/lib/api-client";
import { cx } from "@/lib/cx";
import { useTopic } from "@/lib/events";
import { formatNumber } from "@/lib/format";
import { useRefetch } from "@/lib/live-list";
import { t } from "../en";

// Below the key of Home, so that what Home asks for again is asked for here too.
const queryKey = ["home", "failed"];

/** The number of failed imports that wait for the user, at the entry of History. Nothing if there is none. */
export function HistoryBadge({ className }: { className: string }) {
  const { data } = useQuery({ queryKey, queryFn: ({ signal }) => dataOf(api.GET("/api/home/failed", { signal })) });
  const refetch = useRefetch(queryKey);
  useTopic("history", (frame) => frame.kind === "delta" && refetch());
  if (!data || data.count === 0) return null;
  return (
    <span className={cx("rounded-full bg-bad-fill px-1.5 text-center text-xs leading-5 font-semibold text-[#fff] tabular-nums", className)}>
      <span aria-hidden>{data.count > mostShown ? t("more-than", { most: formatNumber(mostShown) }) : formatNumber(data.count)}</span>
      <span className="sr-only">{t("failed-imports", { count: data.count })}</span>
    </span>
  );
}

const mostShown = 99;

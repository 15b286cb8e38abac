import { Badge, type Tone } from "@/components/ui/badge";
import { Progress } from "@/components/ui/progress";
import type { Schema } from "@/lib/api-client";
import { formatBytes, formatDay } from "@/lib/format";
import { t } from "./en";

type Quota = Schema<"ProviderQuota">;

/** Parts below this share of the used bytes are left out, because logins are always a few bytes. */
const leastShare = 0.01;

/** The data cap of a provider: how much is used, for what, how long the rest lasts, and when it resets. */
export function QuotaMeter({ quota, name }: { quota: Quota; name: string }) {
  const percent = quota.limit > 0 ? (100 * quota.used) / quota.limit : 100;
  return (
    <div className="mt-2 grid gap-1">
      <Progress label={t("quota-of", { name })} percent={percent} tone={toneOf(quota.state, percent)} />
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
        <span className="tabular-nums">
          {t("quota-used", { used: formatBytes(quota.used), limit: formatBytes(quota.limit), left: formatBytes(quota.left) })}
        </span>
        {quota.state !== "free" && <Badge tone={toneOf(quota.state, percent)}>{t(`quota-state.${quota.state}`)}</Badge>}
      </p>
      <p className="text-sm text-muted">{[lastsOf(quota), resetOf(quota)].filter((part) => part !== null).join(" ")}</p>
      {quota.used > 0 && <p className="text-xs text-muted">{purposesOf(quota)}</p>}
    </div>
  );
}

function toneOf(state: Quota["state"], percent: number): Tone {
  if (state === "spent") return "bad";
  return state === "fill-only" || percent >= 80 ? "warn" : "accent";
}

/** How long the rest lasts; null if nothing is left, or if the rate is unknown. */
function lastsOf({ state, bytesPerDay, lastsUntil, nextReset }: Quota): string | null {
  if (state === "spent" || bytesPerDay === 0) return null;
  const rate = formatBytes(bytesPerDay);
  if (lastsUntil !== null) return t("quota-lasts", { day: formatDay(lastsUntil), rate });
  return nextReset === null ? t("quota-lasts-long", { rate }) : t("quota-lasts-reset", { rate });
}

function resetOf({ nextReset, daysUntilReset, state }: Quota): string | null {
  if (nextReset !== null) return t("quota-resets", { count: daysUntilReset ?? 0, day: formatDay(nextReset) });
  return state === "spent" ? t("quota-block-spent") : t("quota-block");
}

function purposesOf({ used, lanes }: Quota): string {
  return (["playback", "scans", "import", "checks", "other"] as const)
    .filter((lane) => lanes[lane] >= used * leastShare)
    .sort((left, right) => lanes[right] - lanes[left])
    .map((lane) => t(`quota-lane.${lane}`, { bytes: formatBytes(lanes[lane]) }))
    .join(" · ");
}

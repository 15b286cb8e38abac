import { Gauge, RotateCw, ServerOff } from "lucide-react";
import { memo, useState } from "react";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button, ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { LoadFailure } from "@/components/ui/load-failure";
import type { Schema } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { attempt } from "@/lib/attempt";
import { cx } from "@/lib/cx";
import { formatBytes, formatDuration, formatPercent, formatRate, rateUnit } from "@/lib/format";
import { usePreference } from "@/lib/preference";
import { toast } from "@/lib/toast";
import { askAgain } from "../api/live";
import { t } from "../en";
import { Fact, Vacant, rowClass } from "./fact";

type ProviderRow = Schema<"ProviderRow">;

interface ProvidersCardProps {
  /** Undefined if loading them failed. */
  items: readonly ProviderRow[] | undefined;
  error: Error | null;
  onRetry: () => void;
}

const place = "/settings/providers";

/** The state of each provider and its connections. */
export const ProvidersCard = memo(function ProvidersCard({ items, error, onRetry }: ProvidersCardProps) {
  usePreference(rateUnit);
  if (!items) {
    return (
      <Card title={t("providers")}>
        <LoadFailure problem={ApiProblem.from(error)} onRetry={onRetry} isLine />
      </Card>
    );
  }
  if (items.length === 0) {
    return (
      <Card title={t("providers")} isFlush>
        <Vacant
          icon={ServerOff}
          title={t("no-provider")}
          action={
            <ButtonLink tone="accent" to={place}>
              {t("add-one")}
            </ButtonLink>
          }
        >
          {t("no-provider-help")}
        </Vacant>
      </Card>
    );
  }
  return (
    <Card
      title={t("providers")}
      isFlush
      actions={
        <ButtonLink to={place} tone="quiet" size="sm">
          {t("manage-providers")}
        </ButtonLink>
      }
    >
      <ul className="mt-1">
        {items.map((row) => (
          <Provider key={row.id} row={row} />
        ))}
      </ul>
    </Card>
  );
});

const conditionTones: Record<ProviderRow["condition"], Tone> = { ok: "ok", resting: "warn", refused: "bad", disabled: "neutral" };

function Provider({ row }: { row: ProviderRow }) {
  const [isAsking, setAsking] = useState(false);
  async function reset() {
    setAsking(true);
    const answer = await attempt(askAgain(row.id), t("ask-again-failed", { name: row.name }));
    setAsking(false);
    if (answer) toast({ tone: "ok", title: t("asked-again", { name: row.name }) });
  }
  return (
    <li className={rowClass}>
      <div className="min-w-0">
        <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 truncate font-medium">{row.name}</span>
          <Badge tone={conditionTones[row.condition]}>{t(`condition.${row.condition}`)}</Badge>
          {row.use === "backup" && <Badge>{t("backup")}</Badge>}
        </p>
        <p className={cx("text-sm wrap-anywhere", row.sentence === null || row.condition === "disabled" ? "text-muted" : "text-ink")}>{row.sentence ?? row.host}</p>
      </div>
      <Connections {...row.connections} />
      <div className="min-w-0 md:col-span-full xl:col-span-1">
        <dl className="grid grid-cols-2 gap-x-3 gap-y-2 min-[22rem]:grid-cols-4">
          <Fact label={t("rate")} value={formatRate(row.bytesPerSecond)} />
          <Fact label={t("miss")} value={row.missPercent === null ? t("none") : formatPercent(row.missPercent, 1)} />
          <Fact label={t("latency")} value={row.latencyMs === null ? t("none") : formatDuration(row.latencyMs)} />
          <Fact label={t("today")} value={formatBytes(row.bytesToday)} />
        </dl>
        {row.bytesToday > 0 && <p className="mt-1 text-xs text-muted">{purposes(row)}</p>}
      </div>
      <div className="flex flex-wrap gap-2 md:col-span-full xl:col-span-1 xl:w-48 xl:justify-end">
        {row.condition === "resting" && (
          <Button size="sm" icon={RotateCw} isBusy={isAsking} onClick={() => void reset()}>
            {t("ask-again")}
          </Button>
        )}
        <ButtonLink size="sm" icon={Gauge} to={place} aria-label={t("test-provider", { name: row.name })}>
          {t("test")}
        </ButtonLink>
      </div>
    </li>
  );
}

/** What today's bytes were for, the largest part first. Parts below 1% are left out, because logins are always a few bytes. */
function purposes({ bytesToday, lanesToday: lanes }: ProviderRow): string {
  return (["playback", "scans", "import", "checks", "other"] as const)
    .filter((lane) => lanes[lane] * 100 >= bytesToday)
    .sort((left, right) => lanes[right] - lanes[left])
    .map((lane) => t(`lane.${lane}`, { bytes: formatBytes(lanes[lane]) }))
    .join(" · ");
}

/** The connections as a bar and in words. */
function Connections({ connecting, idle, busy, max, cap }: ProviderRow["connections"]) {
  const allowed = Math.max(1, cap ?? max, connecting + idle + busy);
  const parts = [
    { name: "busy", count: busy, className: "bg-accent-fill" },
    { name: "idle", count: idle, className: "bg-line-strong" },
    { name: "connecting", count: connecting, className: "bg-warn" },
  ] as const;
  const words = parts.filter(({ name, count }) => name !== "connecting" || count > 0).map(({ name, count }) => t(`connections-${name}`, { count }));
  return (
    <div className="grid min-w-0 gap-1.5">
      <div aria-hidden className="flex h-2 gap-px overflow-hidden rounded-full bg-sunken">
        {parts.map(({ name, count, className }) => (
          <i key={name} className={cx("h-full", className)} style={{ width: `${(100 * count) / allowed}%` }} />
        ))}
      </div>
      <p className="text-sm text-muted tabular-nums">
        <span className="sr-only">{`${t("connections")}: `}</span>
        {`${words.join(" · ")} ${cap !== null && cap < max ? t("connections-cap", { cap, max }) : t("connections-max", { max })}`}
      </p>
    </div>
  );
}

import { ArrowDown } from "lucide-react";
import { Link } from "react-router";
import { Dot } from "@/components/ui/badge";
import { Icon } from "@/components/ui/icon";
import { api } from "@/lib/api-client";
import { hub, useConnectionState, useTopicFrame } from "@/lib/events";
import { formatRate, rateUnit } from "@/lib/format";
import { usePreference } from "@/lib/preference";
import { useSteady } from "@/lib/steady";
import { t } from "../en";

// An event stream does not show the status of a failure, but a call that needs the session does.
hub.onRefused = () => void api.GET("/api/session").catch(() => undefined);

/** Shows the current rate, streams and connections, or that the connection is lost. */
export function LivePill() {
  const frame = useTopicFrame("stats");
  const connection = useConnectionState();
  const steady = useSteady(frame?.sample);
  usePreference(rateUnit);
  if (connection === "lost") {
    return (
      <span role="status" title={t("connection-lost-help")} className={`${pill} text-warn`}>
        <Dot tone="warn" />
        {t("connection-lost")}
      </span>
    );
  }
  if (!steady) return null;
  const { fromProviders, streams, connectionsUsed, connectionsMax } = steady;
  const isIdle = streams === 0 && fromProviders === 0;
  const label = t("live", { rate: formatRate(fromProviders), count: streams, used: connectionsUsed, max: connectionsMax });
  return (
    <Link to="/" title={label} className={`${pill} text-muted hover:bg-hover hover:text-ink`}>
      <span className="sr-only">{isIdle ? t("live-idle") : label}</span>
      {isIdle ? <Dot tone="ok" /> : <Icon of={ArrowDown} size={14} className="text-ok" />}
      <span aria-hidden className={isIdle ? "hidden sm:inline" : "text-ink"}>
        {isIdle ? t("live-idle-short") : fromProviders === 0 ? t("live-streams", { count: streams }) : formatRate(fromProviders)}
      </span>
      {!isIdle && streams > 0 && fromProviders > 0 && (
        <>
          <span aria-hidden className="hidden text-line-strong sm:inline">·</span>
          <span aria-hidden className="hidden sm:inline">{t("live-streams", { count: streams })}</span>
        </>
      )}
    </Link>
  );
}

const pill =
  "inline-flex h-8 shrink-0 items-center gap-1.5 rounded-full border-line px-2 sm:border sm:px-3 text-sm tabular-nums transition-colors touch:h-11 touch:min-w-11 touch:justify-center";

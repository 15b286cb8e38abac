import type { Schema } from "@/lib/api-client";
import { formatDuration, formatNumber, formatPercent, formatRate } from "@/lib/format";
import { t } from "./en";

export type WaitReason = Schema<"WaitReason">;

/** Formats the number behind a reason to wait; empty if there is none. */
export function waitNumber({ reason, value, unit }: Schema<"StreamWait">): string {
  return value === null || reason === "none" || reason === "provider-down" ? "" : t(`wait.${reason}.number`, { value: withUnit(value, unit) });
}

function withUnit(value: number, unit: string | null): string {
  switch (unit) {
    case "connections":
      return t("connections", { count: value });
    case "streams":
      return t("streams", { count: value });
    case "bytes-per-second":
      return formatRate(value);
    case "ms":
      return formatDuration(value);
    case "percent":
      return formatPercent(value);
    default:
      return formatNumber(value);
  }
}

/** The page that resolves a reason to wait; null if there is none. */
export const waitWays: Record<WaitReason, { to: string; name: "providers" | "streaming" | "home" | "queue" } | null> = {
  none: null,
  "provider-slots": { to: "/settings/providers", name: "providers" },
  "provider-slow": { to: "/settings/providers", name: "providers" },
  "provider-down": { to: "/settings/providers", name: "providers" },
  "line-full": { to: "/", name: "home" },
  limit: { to: "/settings/streaming", name: "streaming" },
  "other-streams": { to: "/settings/streaming", name: "streaming" },
  "article-retry": { to: "/settings/providers", name: "providers" },
  cpu: { to: "/queue", name: "queue" },
  "player-slow": null,
};

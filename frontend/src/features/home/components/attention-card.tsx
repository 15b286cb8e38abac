import { CircleAlert, TriangleAlert } from "lucide-react";
import { ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Icon } from "@/components/ui/icon";
import type { Schema } from "@/lib/api-client";
import { cx } from "@/lib/cx";
import { formatAgo } from "@/lib/format";
import { t } from "../attention-en";

type AttentionRow = Schema<"AttentionRow">;

/** Where each kind of problem is dealt with. */
export const ways: Record<AttentionRow["kind"], (target: string | null) => string> = {
  "no-provider": () => "/settings/providers",
  "provider-fails": () => "/settings/providers",
  storage: () => "/settings/system",
  "safe-mode": () => "/logs",
  "secret-key": () => "/settings/system",
  "open-tree": (target) => settingOf(target, "/settings/library"),
  film: () => "/history",
  arr: () => "/settings/arr",
  "watch-folder": (target) => settingOf(target, "/settings/download-client"),
  setting: (target) => settingOf(target, "/settings"),
  log: () => "/logs?level=warning",
};

function settingOf(key: string | null, otherwise: string): string {
  return key === null ? otherwise : `/settings?q=${encodeURIComponent(key)}`;
}

/** Problems, the worst first, each with the way to where it is dealt with. */
export function AttentionCard({ rows }: { rows: readonly AttentionRow[] }) {
  const shown = withoutRepeats(rows);
  return (
    <Card title={t("attention")} isFlush>
      <ul className="mt-1">
        {shown.map(({ row, count }) => (
          <li
            key={`${row.kind} ${row.target ?? ""} ${row.sentence}`}
            className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3 gap-y-2 border-t border-line px-4 py-3 sm:grid-cols-[auto_minmax(0,1fr)_auto]"
          >
            <span className={cx("self-start pt-0.5", row.level === "error" ? "text-bad" : "text-warn")}>
              <Icon of={row.level === "error" ? CircleAlert : TriangleAlert} size={18} />
              <span className="sr-only">{t(`level.${row.level}`)}</span>
            </span>
            <div className="min-w-0">
              <p className="text-sm text-muted">
                {t(`kind.${row.kind}`)}
                {row.since !== null && ` · ${formatAgo(row.since)}`}
                {count > 1 && ` · ${t("times", { count })}`}
              </p>
              <p className="wrap-anywhere">{row.sentence}</p>
            </div>
            <ButtonLink size="sm" to={ways[row.kind](row.target)} className="col-start-2 w-fit sm:col-start-3">
              {t(`way.${row.kind}`)}
            </ButtonLink>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Rows that say the same are one, which stands where the first of them does and counts them. */
export function withoutRepeats(rows: readonly AttentionRow[]): { row: AttentionRow; count: number }[] {
  const counted = new Map<string, { row: AttentionRow; count: number }>();
  for (const row of rows) {
    const key = `${row.kind} ${row.target ?? ""} ${row.sentence}`;
    const known = counted.get(key);
    if (known) known.count += 1;
    else counted.set(key, { row, count: 1 });
  }
  return [...counted.values()];
}

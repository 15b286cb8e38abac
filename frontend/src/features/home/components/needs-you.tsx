import { CircleAlert, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";
import { Button, ButtonLink } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import type { Schema } from "@/lib/api-client";
import { cx } from "@/lib/cx";
import { failureName } from "@/lib/failure-names";
import { filmName } from "@/lib/film";
import { formatAgo, formatPercent } from "@/lib/format";
import { type HomeNeed, markSeen, retryFailed } from "../api/home";
import { t } from "../attention-en";

type AttentionRow = Schema<"AttentionRow">;

/** The page that resolves each kind of problem. */
export const ways: Record<AttentionRow["kind"], (target: string | null) => string> = {
  "no-provider": () => "/settings/providers",
  "provider-fails": () => "/settings/providers",
  "provider-quota": () => "/settings/providers",
  storage: () => "/settings/system",
  "safe-mode": () => "/rescue",
  "secret-key": () => "/settings/system",
  "open-tree": (target) => settingOf(target, "/settings/library"),
  arr: () => "/settings/arr",
  "watch-folder": (target) => settingOf(target, "/settings/download-client"),
  backup: () => "/settings/backups",
  setting: (target) => settingOf(target, "/settings"),
  film: () => "/history?result=with-gaps",
  log: () => "/logs?level=warning",
};

function settingOf(key: string | null, otherwise: string): string {
  return key === null ? otherwise : `/settings?q=${encodeURIComponent(key)}`;
}

/** Problems of the server, failed imports by reason, and films with gaps; renders nothing if there are none. */
export function NeedsYou({ needs, problems }: { needs: readonly HomeNeed[]; problems: readonly AttentionRow[] }) {
  if (needs.length === 0 && problems.length === 0) return null;
  return (
    <section aria-labelledby="needs-title" className="overflow-clip rounded-xl border border-line bg-surface shadow-card">
      <h2 id="needs-title" className="px-4 py-3 text-base font-semibold">
        {t("attention")}
      </h2>
      <ul>
        {withoutRepeats(problems).map(({ row, count }) => (
          <Problem key={`${row.kind} ${row.target ?? ""} ${row.sentence}`} row={row} count={count} />
        ))}
        {needs.map((need) => (
          <Need key={need.id} need={need} />
        ))}
      </ul>
    </section>
  );
}

function Problem({ row, count }: { row: AttentionRow; count: number }) {
  const detail = [t(`kind.${row.kind}`), row.since === null ? "" : formatAgo(row.since), count > 1 ? t("times", { count }) : ""];
  return (
    <Line level={row.level} title={row.sentence} detail={detail}>
      <ButtonLink size="sm" to={ways[row.kind](row.target)}>
        {t(`way.${row.kind}`)}
      </ButtonLink>
    </Line>
  );
}

function Need({ need }: { need: HomeNeed }) {
  const navigate = useNavigate();
  const { kind, reason, count, missingShare } = need;
  const name = filmName(need.film, need.name);
  const isFailure = kind === "import-failed";
  const reasonName = reason === null ? "" : failureName(reason);
  const title =
    count === 1
      ? t(isFailure ? "failed-one" : "gaps-one", { name })
      : isFailure
        ? t("failed-many", { count, reason: reasonName })
        : t("gaps-many", { count });
  const share = missingShare === null ? "" : t("gaps-share", { percent: formatPercent(100 * missingShare, missingShare < 0.1 ? 1 : 0) });
  const detail = [count > 1 ? t("failed-newest", { name }) : isFailure ? reasonName : share, formatAgo(need.at)];
  const review = isFailure ? `/history?result=failed${reason === null ? "" : `&reason=${reason}`}` : "/history?result=with-gaps";
  return (
    <Line level={isFailure ? "error" : "warning"} title={title} detail={detail}>
      <ButtonLink size="sm" to={review}>
        {t("review")}
      </ButtonLink>
      {isFailure && (
        <Button size="sm" onClick={() => void retryFailed(reason, () => void navigate("/queue"))}>
          {t(count === 1 ? "retry" : "retry-all")}
        </Button>
      )}
      <Button size="sm" tone="quiet" title={t("seen-help")} onClick={() => void markSeen(need)}>
        {t("seen")}
      </Button>
    </Line>
  );
}

function Line({ level, title, detail, children }: { level: "error" | "warning"; title: string; detail: readonly string[]; children: ReactNode }) {
  const isError = level === "error";
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line px-4 py-2.5">
      <span className={cx("self-start pt-0.5", isError ? "text-bad" : "text-warn")}>
        <Icon of={isError ? CircleAlert : TriangleAlert} size={18} />
        <span className="sr-only">{t(`level.${level}`)}</span>
      </span>
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium wrap-anywhere">{title}</p>
        <p className="text-sm text-muted wrap-anywhere">{detail.filter((part) => part !== "").join(" · ")}</p>
      </div>
      <div className="flex flex-wrap gap-2 max-sm:ps-7.5">{children}</div>
    </li>
  );
}

/** Merges equal rows into the first of them, with their number. */
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

import { ArrowDownToLine, Download, Pause, Play, ScrollText } from "lucide-react";
import { useState } from "react";
import { Button, buttonClass } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { LoadFailure } from "@/components/ui/load-failure";
import { Icon } from "@/components/ui/icon";
import { SkeletonRows } from "@/components/ui/skeleton";
import { VirtualList } from "@/components/ui/virtual-list";
import { ApiProblem } from "@/lib/api-problem";
import { useListUrl } from "@/lib/list-url";
import { usePageTitle } from "@/lib/page-title";
import { urlOf } from "@/lib/url-base";
import { useLog } from "../api/log";
import { t } from "../en";
import { type LogLine, lineKey } from "../lines";
import { LevelControl } from "./level-control";
import { LineFilters } from "./line-filters";
import { Line } from "./line";

/** The log of the server, updated live. */
export function LogsPage() {
  usePageTitle(t("title"));
  const list = useListUrl({ filters: ["level", "source", "job", "stream", "q"], sort: "" });
  const { log, error, retry, loadOlder, isLoadingOlder, olderError, retryOlder } = useLog(list.filters);
  const [isFollowing, setFollowing] = useState(true);
  const [held, setHeld] = useState<readonly LogLine[] | null>(null);
  const known = log?.items ?? [];
  const waiting = held ? Math.max(0, known.findIndex((line) => line === held[0])) : 0;
  const shown = held ?? known;

  function changeFilter(change: () => void) {
    setHeld(null);
    setFollowing(true);
    change();
  }

  return (
    <div className="flex h-[calc(100dvh-var(--bar)-var(--tabs)-2.5rem)] min-h-96 flex-col gap-3 lg:h-[calc(100dvh-var(--bar)-3.75rem)]">
      <LineFilters
        filters={list.filters}
        sources={log?.sources ?? []}
        onChange={(name, value) => changeFilter(() => list.setFilter(name, value))}
        onClear={() => changeFilter(list.clear)}
      />
      <div className="flex min-h-0 flex-1 flex-col overflow-hidden rounded-xl border border-line bg-surface shadow-card">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-3 py-2">
          <div className="flex flex-wrap gap-2">
            <Button tone={isFollowing ? "accent" : "plain"} size="sm" icon={ArrowDownToLine} aria-pressed={isFollowing} title={t("follow-help")} onClick={() => setFollowing(!isFollowing)}>
              <Word>{t("follow")}</Word>
            </Button>
            <Button tone={held ? "accent" : "plain"} size="sm" icon={held ? Play : Pause} aria-pressed={held !== null} title={t("pause-help")} onClick={() => setHeld(held ? null : known)}>
              <Word>{held ? t("resume") : t("pause")}</Word>
            </Button>
            <a href={urlOf("api/logs/download")} download className={buttonClass("plain", "sm")}>
              <Icon of={Download} />
              <Word>{t("download")}</Word>
            </a>
          </div>
          <span className="text-sm text-muted tabular-nums">
            {held ? (waiting > 0 ? t("paused-new", { count: waiting }) : t("paused-none")) : log ? t("total", { count: log.total }) : ""}
          </span>
          <span className="ms-auto">{log && <LevelControl level={log.level} until={log.levelUntil} onOver={retry} />}</span>
        </div>
        {!log && error && (
          <div className="p-4">
            <LoadFailure problem={ApiProblem.from(error)} onRetry={retry} />
          </div>
        )}
        {!log && !error && <SkeletonRows rows={10} />}
        {log && shown.length === 0 && (
          <EmptyState
            icon={ScrollText}
            title={list.isFiltered ? t("empty-filtered") : t("empty")}
            actions={list.isFiltered && <Button onClick={() => changeFilter(list.clear)}>{t("clear-filters")}</Button>}
          >
            {list.isFiltered ? t("empty-filtered-help") : t("empty-help")}
          </EmptyState>
        )}
        {log && shown.length > 0 && (
          <div className="relative flex min-h-0 flex-1 flex-col">
            <Edge isLoading={isLoadingOlder} error={olderError} onRetry={retryOlder} />
            <VirtualList
              label={t("log")}
              items={[...shown].reverse()}
              itemKey={lineKey}
              estimate={28}
              isFollowing={isFollowing}
              onFollowingChange={setFollowing}
              onStart={held ? undefined : loadOlder}
              className="min-h-0 flex-1 py-1"
              render={(line) => <Line line={line} onFilter={(name, value) => changeFilter(() => list.setFilter(name, value))} />}
            />
            {!isFollowing && (
              <div className="absolute end-4 bottom-3">
                <Button tone="accent" size="sm" icon={ArrowDownToLine} className="shadow-float" onClick={() => setFollowing(true)}>
                  {t("to-newest")}
                </Button>
              </div>
            )}
          </div>
        )}
      </div>
    </div>
  );
}

/** The text of a button. On phones there is no room, so only screen readers get it. */
function Word({ children }: { children: string }) {
  return <span className="sr-only sm:not-sr-only">{children}</span>;
}

/** Shown above the lines while older ones are loading or if that failed. */
function Edge({ isLoading, error, onRetry }: { isLoading: boolean; error: Error | null; onRetry: () => void }) {
  if (error) return <LoadFailure problem={ApiProblem.from(error)} onRetry={onRetry} isLine />;
  return isLoading ? <p className="px-4 py-1 text-center text-sm text-muted">{t("loading-older")}</p> : null;
}

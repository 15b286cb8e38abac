import { useState } from "react";
import { LoadFailure } from "@/components/ui/load-failure";
import { Skeleton } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { useProviders, useStats } from "../api/live";
import { useFrozen } from "../frozen";
import type { StatWindow } from "../samples";
import { NowCard } from "./now-card";
import { ProvidersCard } from "./providers-card";

/** The panel below the strip: the chart of a window, the current figures and the providers. */
export function ChartPanel({ window, onWindow }: { window: StatWindow; onWindow: (window: StatWindow) => void }) {
  const [isPaused, setPaused] = useState(false);
  const { stats, error, retry } = useStats(window);
  const providers = useProviders();
  const shown = useFrozen(stats, isPaused);
  const shownProviders = useFrozen(providers.items, isPaused);
  function change(next: StatWindow) {
    // Another window ends the pause, because its data was not frozen.
    setPaused(false);
    onWindow(next);
  }
  return (
    <div className="grid gap-5">
      {shown ? (
        <NowCard stats={shown} window={window} onWindow={change} isPaused={isPaused} onPause={setPaused} />
      ) : error ? (
        <LoadFailure problem={ApiProblem.from(error)} onRetry={() => void retry()} isLine />
      ) : (
        <Skeleton className="h-96" />
      )}
      {(shownProviders || providers.error) && <ProvidersCard items={shownProviders} error={providers.error} onRetry={providers.retry} />}
    </div>
  );
}

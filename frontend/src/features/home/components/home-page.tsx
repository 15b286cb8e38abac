import { useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { Card } from "@/components/ui/card";
import { LoadFailure } from "@/components/ui/load-failure";
import { SkeletonRows } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { usePageTitle } from "@/lib/page-title";
import { usePreference } from "@/lib/preference";
import { useProviders, useStats, useStreams } from "../api/live";
import { t } from "../en";
import { useFrozen } from "../frozen";
import { firstSteps, isDone } from "../first-evening";
import { type StatWindow, windowOf } from "../samples";
import { AllWell } from "./all-well";
import { AttentionCard } from "./attention-card";
import { FirstStepsCard } from "./first-steps-card";
import { NowCard, ThroughputStrip } from "./now-card";
import { ProvidersCard } from "./providers-card";
import { StreamsCard } from "./streams-card";

/** What the server does at this moment, and what needs a hand. */
export function HomePage() {
  usePageTitle(t("title"));
  const [search, setSearch] = useSearchParams();
  const [isPaused, setPaused] = useState(false);
  const window = windowOf(search.get("window"));
  const { stats, error, retry } = useStats(window);
  const streams = useStreams();
  const providers = useProviders();
  const shown = useFrozen(stats, isPaused);
  const shownStreams = useFrozen(streams.rows, isPaused);
  const shownProviders = useFrozen(providers.items, isPaused);

  const [evening, keepEvening] = usePreference(firstSteps);
  const isEveningOver = stats !== undefined && isDone(stats.steps);
  useEffect(() => {
    if (isEveningOver) keepEvening("done");
  }, [isEveningOver, keepEvening]);

  // The first steps, or what stands above every page, say it already.
  const attention = stats?.attention.filter((row) => row.kind !== "open-tree" && (evening === "done" || isEveningOver || row.kind !== "no-provider"));

  // The chart and what stands next to it open with their window in the address.
  const isOpen = search.has("window");
  function changeWindow(next: StatWindow | null) {
    setSearch(next === null ? {} : { window: next }, { replace: true, preventScrollReset: true });
    // What is asked for anew is not what was held.
    setPaused(false);
  }

  // What comes first says where the rest stands: drawn piece by piece, the page would jump under the hand.
  const isKnown = (shown || error) && (shownStreams || streams.error) && (shownProviders || providers.error);
  if (!isKnown) {
    return (
      <Card key="coming" title={t("now")} isFlush>
        <SkeletonRows rows={12} />
      </Card>
    );
  }
  return (
    <div className="grid gap-5">
      {stats && evening === "open" && !isEveningOver && <FirstStepsCard steps={stats.steps} />}
      {attention && attention.length > 0 && <AttentionCard rows={attention} />}
      <StreamsCard rows={shownStreams} error={streams.error} onRetry={streams.retry} />
      {!shown && error && <LoadFailure problem={ApiProblem.from(error)} onRetry={retry} isLine />}
      {shown && !isOpen && <ThroughputStrip stats={shown} onOpen={() => changeWindow("ten-minutes")} />}
      {shown && isOpen && (
        <NowCard stats={shown} window={window} onWindow={changeWindow} isPaused={isPaused} onPause={setPaused} onClose={() => changeWindow(null)} />
      )}
      {(isOpen || providers.items?.length === 0) && <ProvidersCard items={shownProviders} error={providers.error} onRetry={providers.retry} />}
      {stats && stats.attention.length === 0 && <AllWell />}
    </div>
  );
}

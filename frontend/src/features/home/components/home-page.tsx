import { Film } from "lucide-react";
import { useEffect } from "react";
import { useSearchParams } from "react-router";
import { ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { late } from "@/components/ui/late";
import { LoadFailure } from "@/components/ui/load-failure";
import { Skeleton } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { usePageTitle } from "@/lib/page-title";
import { usePreference } from "@/lib/preference";
import { useHome } from "../api/home";
import { t } from "../en";
import { firstSteps, isDone } from "../first-evening";
import { type StatWindow, windowOf } from "../samples";
import { QueueLine, ThroughputStrip } from "./at-a-glance";
import { FirstStepsCard } from "./first-steps-card";
import { NeedsYou } from "./needs-you";
import { NowPlaying } from "./now-playing";
import { RecentFilms } from "./recent-films";

const ChartPanel = late(async () => (await import("./chart-panel")).ChartPanel, { isAhead: false, pending: () => <Skeleton className="h-96" /> });

/** Everything that needs attention, the playbacks, and the recently added films. */
export function HomePage() {
  usePageTitle(t("title"));
  const [search, setSearch] = useSearchParams();
  const { home, sample, error, retry } = useHome();
  const [evening, keepEvening] = usePreference(firstSteps);
  const isEveningOver = home !== undefined && isDone(home.steps);
  useEffect(() => {
    if (isEveningOver) keepEvening("done");
  }, [isEveningOver, keepEvening]);

  // The address contains the window of the open chart.
  const isOpen = search.has("window");
  const setWindow = (next: StatWindow | null) => setSearch(next === null ? {} : { window: next }, { replace: true, preventScrollReset: true });

  if (!home) return error ? <LoadFailure problem={ApiProblem.from(error)} onRetry={retry} /> : <Coming />;
  const isFirstEvening = evening === "open" && !isEveningOver;
  // The first steps or a notice above the page report these problems already.
  const problems = home.problems.filter((row) => row.kind !== "open-tree" && !(isFirstEvening && row.kind === "no-provider"));
  return (
    <div className="grid gap-7">
      {isFirstEvening && <FirstStepsCard steps={home.steps} />}
      <NeedsYou needs={home.needs} problems={problems} />
      <NowPlaying items={home.playing} pictures={home.pictures} scans={home.scans} />
      {home.recent.length > 0 ? (
        <RecentFilms films={home.recent} />
      ) : (
        !isFirstEvening && (
          <EmptyState icon={Film} title={t("no-films")} actions={<ButtonLink to="/queue">{t("add-nzb")}</ButtonLink>}>
            {t("no-films-help")}
          </EmptyState>
        )
      )}
      <div className="grid gap-3 md:grid-cols-2">
        <QueueLine queue={home.queue} />
        <ThroughputStrip strip={home.strip} sample={sample} isOpen={isOpen} onToggle={() => setWindow(isOpen ? null : "ten-minutes")} />
      </div>
      {isOpen && <ChartPanel window={windowOf(search.get("window"))} onWindow={setWindow} />}
    </div>
  );
}

/** Placeholders while Home loads, so that nothing moves when it arrives. */
function Coming() {
  return (
    <div className="grid gap-7">
      <Skeleton className="h-24" />
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-4 xl:grid-cols-6">
        {Array.from({ length: 6 }, (_, at) => (
          <Skeleton key={at} className="aspect-2/3" />
        ))}
      </div>
    </div>
  );
}

import { useState } from "react";
import type { Schema } from "./api-client";

type Sample = Schema<"StatSample">;

const seconds = 10;

/** Merges the samples of the last ten seconds, because traffic is bursty: the mean of rates, the maximum of counts. */
export function steadyOf(samples: readonly Sample[]): Sample | undefined {
  const last = samples.at(-1);
  if (!last) return undefined;
  const recent = samples.filter(({ at }) => Date.parse(last.at) - Date.parse(at) < seconds * 1_000);
  const mean = (of: (sample: Sample) => number) => Math.round(recent.reduce((sum, sample) => sum + of(sample), 0) / recent.length);
  const most = (of: (sample: Sample) => number) => Math.max(...recent.map(of));
  return {
    ...last,
    fromProviders: mean((sample) => sample.fromProviders),
    toPlayers: mean((sample) => sample.toPlayers),
    fromCache: mean((sample) => sample.fromCache),
    connectionsUsed: most((sample) => sample.connectionsUsed),
  };
}

/** Collects samples that arrive one by one and returns the last ten seconds, merged. */
export function useSteady(sample: Sample | undefined): Sample | undefined {
  const [recent, setRecent] = useState<readonly Sample[]>([]);
  if (sample && recent.at(-1)?.at !== sample.at) setRecent([...recent.slice(1 - seconds), sample]);
  return steadyOf(recent) ?? sample;
}

import { CircleStop, FolderOpen, RadioTower, ScrollText } from "lucide-react";
import { useQuery } from "@tanstack/react-query";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button, ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { CopyButton } from "@/components/ui/copy-block";
import { EmptyState } from "@/components/ui/empty-state";
import { LoadFailure } from "@/components/ui/load-failure";
import { KeyValues } from "@/components/ui/key-values";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { Sparkline } from "@/components/ui/sparkline";
import type { Schema } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { attempt } from "@/lib/attempt";
import { formatBytes, formatDuration, formatNumber, formatRate, formatTime, rateUnit } from "@/lib/format";
import { usePageTitle } from "@/lib/page-title";
import { playedName } from "@/lib/played-name";
import { type Mood, bufferedSeconds, bufferedText } from "@/lib/playback";
import { usePreference } from "@/lib/preference";
import { sessionQuery } from "@/lib/session";
import { toast } from "@/lib/toast";
import { useStop, useStream } from "../api/stream";
import { diagnosticsOf } from "../diagnostics";
import { t } from "../en";
import { verdictOf } from "../verdict";
import { BufferMapCard } from "./buffer-map-card";
import { ArticlesCard, SeeksCard } from "./tables";
import { WaitCard } from "./wait-card";

type StreamDetail = Schema<"StreamDetail">;

/** The page of one playback with all its details. */
export function StreamPage({ id }: { id: string }) {
  const { stream, error, retry } = useStream(id);
  usePageTitle(stream ? playedName(stream.item.file).title : t("title"));
  usePreference(rateUnit);
  if (stream) return <Playback stream={stream} />;
  if (stream === null) return <Forgotten id={id} />;
  if (error) return <LoadFailure problem={ApiProblem.from(error)} onRetry={retry} />;
  return (
    <div className="grid gap-5">
      <Skeleton className="h-12" />
      <Skeleton className="h-40" />
      <Skeleton className="h-64" />
    </div>
  );
}

function logOf(id: string): string {
  return `/logs?stream=${encodeURIComponent(id)}`;
}

function Forgotten({ id }: { id: string }) {
  return (
    <EmptyState
      icon={RadioTower}
      title={t("forgotten")}
      actions={
        <>
          <ButtonLink to="/" tone="accent">
            {t("to-home")}
          </ButtonLink>
          <ButtonLink to={logOf(id)}>{t("open-log")}</ButtonLink>
        </>
      }
    >
      {t("forgotten-help")}
    </EmptyState>
  );
}

function Playback({ stream }: { stream: StreamDetail }) {
  const verdict = verdictOf(stream);
  return (
    <div className="grid gap-5">
      <Head stream={stream} mood={verdict.mood} />
      <Notice tone={verdict.tone}>{verdict.sentence}</Notice>
      <BufferMapCard stream={stream} />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <div className="grid min-w-0 gap-5">
          <WaitCard wait={stream.wait} mood={verdict.mood} />
          <FactsCard stream={stream} />
          <SeeksCard seeks={stream.seeks} fileBytes={stream.item.file.bytes} />
        </div>
        <div className="grid min-w-0 gap-5">
          <RateCard stream={stream} />
          <ArticlesCard articles={stream.articles} position={stream.item.position} />
        </div>
      </div>
    </div>
  );
}

const tones: Record<Mood, Tone> = {
  ended: "neutral", paused: "neutral", starting: "neutral", gaps: "bad", stalled: "warn", slowed: "ok", tight: "ok", whole: "ok", good: "ok",
};

function Head({ stream, mood }: { stream: StreamDetail; mood: Mood }) {
  const { item } = stream;
  const stop = useStop(item.id);
  const { data: session } = useQuery(sessionQuery);
  const folder = item.file.path.split("/").slice(0, -1).map(encodeURIComponent).join("/");
  async function end() {
    if (await attempt(stop.mutateAsync(), t("stop-failed"))) toast({ tone: "ok", title: t("stopped") });
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-3">
      <div className="me-auto grid min-w-0 flex-1 basis-60 gap-0.5">
        <span className="flex items-center gap-2">
          <Badge tone={tones[mood]}>{t(`mood.${mood}`)}</Badge>
          <span className="truncate text-muted">{`${item.player === "" ? t("unknown-player") : item.player} · ${item.client}`}</span>
        </span>
        <span className="text-sm text-muted wrap-anywhere">{item.file.path}</span>
      </div>
      <div className="flex flex-wrap gap-2">
        {item.state !== "ended" && (
          <Button icon={CircleStop} title={t("stop-help")} isBusy={stop.isPending} onClick={() => void end()}>
            {t("stop")}
          </Button>
        )}
        <CopyButton tone="plain" label={t("copy-diagnostics")} value={diagnosticsOf(stream, session?.version ?? "")} />
        <ButtonLink to={`/files/${folder}?file=${encodeURIComponent(item.file.id)}`} icon={FolderOpen}>
          {t("show-file")}
        </ButtonLink>
        <ButtonLink to={logOf(item.id)} icon={ScrollText}>
          {t("show-log")}
        </ButtonLink>
      </div>
    </div>
  );
}

function RateCard({ stream: { item, rates } }: { stream: StreamDetail }) {
  const label = t("rate-last-minute", { rate: formatRate(item.bytesPerSecond), most: formatRate(Math.max(0, ...rates)) });
  return (
    <Card title={t("rate")}>
      <p className="text-xl font-semibold tabular-nums">{formatRate(item.bytesPerSecond)}</p>
      <div className="my-2">
        <Sparkline label={label} values={rates} />
      </div>
      <p className="text-sm text-muted tabular-nums">{label}</p>
    </Card>
  );
}

function FactsCard({ stream: { item, requests, retries } }: { stream: StreamDetail }) {
  return (
    <Card title={t("facts")}>
      <KeyValues
        items={[
          { label: t("client"), value: item.client },
          { label: t("player"), value: item.player === "" ? t("unknown-player") : item.player },
          { label: t("started"), value: formatTime(item.startedAt) },
          { label: t("last-read"), value: formatTime(item.lastReadAt) },
          { label: t("sent"), value: formatBytes(item.bytesSent) },
          { label: t("ahead"), value: bufferedSeconds(item) === null ? formatBytes(item.aheadBytes) : t("ahead-value", { time: bufferedText(item), bytes: formatBytes(item.aheadBytes) }) },
          { label: t("first-byte"), value: item.firstByteMs === null ? t("none") : formatDuration(item.firstByteMs) },
          { label: t("requests"), value: formatNumber(requests) },
          { label: t("retries"), value: t("retries-count", { count: retries }) },
        ]}
      />
    </Card>
  );
}

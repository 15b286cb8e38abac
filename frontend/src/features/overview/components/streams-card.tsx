import { Clapperboard, ScanSearch } from "lucide-react";
import { Link, useNavigate } from "react-router";
import { Badge, Dot, type Tone } from "@/components/ui/badge";
import { ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { Failure } from "@/components/ui/failure";
import { Icon } from "@/components/ui/icon";
import { Progress } from "@/components/ui/progress";
import { type Column, Table } from "@/components/ui/table";
import type { Schema } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { formatBytes, formatDuration, formatPercent, formatRate, rateUnit } from "@/lib/format";
import { usePreference } from "@/lib/preference";
import { t } from "../en";

type StreamRow = Schema<"StreamRow">;
type ScanRow = Schema<"ScanRow">;

interface StreamsCardProps {
  /** Undefined until they are known. */
  rows: { items: readonly StreamRow[]; scans: readonly ScanRow[] } | undefined;
  error: Error | null;
  onRetry: () => void;
}

/** A row for each playback, which stays in its place while it lasts, and a line for each scan of the library. */
export function StreamsCard({ rows, error, onRetry }: StreamsCardProps) {
  const navigate = useNavigate();
  usePreference(rateUnit);
  if (!rows && error) {
    return (
      <Card title={t("streams")}>
        <Failure title={ApiProblem.from(error).title} onRetry={onRetry} />
      </Card>
    );
  }
  const items = [...(rows?.items ?? [])].sort((a, b) => b.startedAt.localeCompare(a.startedAt) || a.id.localeCompare(b.id));
  return (
    <Card title={t("streams")} isFlush>
      <Table
        label={t("streams")}
        rows={items}
        columns={columns}
        rowKey={(row) => row.id}
        rowName={(row) => row.file.name}
        rowRem={3.75}
        cardRem={5}
        isLoading={!rows}
        onOpen={(row) => void navigate(pathOf(row))}
        empty={
          <EmptyState
            icon={Clapperboard}
            title={t("no-streams")}
            actions={<ButtonLink to="/files">{t("open-files")}</ButtonLink>}
          >
            {t("no-streams-help")}
          </EmptyState>
        }
      />
      {rows && rows.scans.length > 0 && (
        <ul className="grid gap-1 border-t border-line px-4 py-3">
          {rows.scans.map((scan) => (
            <li key={`${scan.client} ${scan.player}`} className="flex items-start gap-2 text-sm text-muted">
              <Icon of={ScanSearch} size={14} className="mt-1" />
              <span className="min-w-0 wrap-anywhere">{t("scan", { count: scan.files, client: clientOf(scan), bytes: formatBytes(scan.bytesSent) })}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function pathOf(row: StreamRow): string {
  return `/streams/${encodeURIComponent(row.id)}`;
}

function clientOf({ client, player }: { client: string; player: string }): string {
  return t("client", { player: player === "" ? t("unknown-player") : player, address: client });
}

const columns: readonly Column<StreamRow>[] = [
  {
    name: "file",
    header: t("file"),
    card: "title",
    cell: (row) => (
      <span className="grid min-w-0">
        <Link to={pathOf(row)} className="truncate font-medium hover:underline touch:inline-flex touch:min-h-11 touch:items-center">
          {row.file.name}
        </Link>
        <span className="hidden truncate text-sm text-muted sm:block">{clientOf(row)}</span>
      </span>
    ),
  },
  { name: "state", header: t("state"), width: "12rem", card: "line", cell: (row) => <State row={row} /> },
  {
    name: "position",
    header: t("position"),
    width: "9rem",
    card: "none",
    cell: (row) => {
      const percent = row.file.bytes > 0 ? (100 * row.position) / row.file.bytes : 0;
      return (
        <span className="grid gap-1">
          <span className="text-sm text-muted">{t("position-of", { percent: formatPercent(percent), name: formatBytes(row.file.bytes) })}</span>
          <Progress label={t("position")} percent={percent} tone={row.state === "ended" ? "neutral" : "accent"} />
        </span>
      );
    },
  },
  { name: "rate", header: t("rate"), width: "7rem", align: "end", card: "line", cell: (row) => formatRate(row.bytesPerSecond) },
  { name: "ahead", header: t("ahead"), width: "7rem", align: "end", card: "none", cell: (row) => formatBytes(row.aheadBytes) },
  {
    name: "first-byte",
    header: t("first-byte"),
    width: "6.5rem",
    align: "end",
    card: "none",
    cell: (row) => (row.firstByteMs === null ? t("none") : formatDuration(row.firstByteMs)),
  },
];

/** What it does, or why it does not get on. */
function State({ row }: { row: StreamRow }) {
  const isWaiting = row.state === "playing" && row.wait !== "none" && row.wait !== "player-slow";
  if (isWaiting) return <Badge tone={row.wait === "provider-down" ? "bad" : "warn"}>{t(`wait.${row.wait}`)}</Badge>;
  return (
    <span className="inline-flex items-center gap-1.5">
      <Dot tone={stateTones[row.state]} />
      {t(`state.${row.state}`)}
    </span>
  );
}

const stateTones: Record<StreamRow["state"], Tone> = { playing: "ok", paused: "neutral", ended: "neutral" };

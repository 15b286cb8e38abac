import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { DatabaseBackup, Download, Trash2 } from "lucide-react";
import { useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button, IconButton, buttonClass } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { Icon } from "@/components/ui/icon";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { useTopic } from "@/lib/events";
import { formatAgo, formatBytes, formatDateTime, formatNumber } from "@/lib/format";
import { toast } from "@/lib/toast";
import { urlOf } from "@/lib/url-base";
import { type BackupRow, backupsQuery, deleteBackup, laterQuery, makeBackup, requeueLater } from "./api/backups";
import { t } from "./backups-en";
import { RestoreDialog } from "./restore-dialog";
import { SecondFolder } from "./second-folder";

/** Lists the backups to restore, and the NZBs that were added after a restored one. */
export function BackupsCard() {
  const client = useQueryClient();
  const backups = useQuery(backupsQuery);
  const [asked, setAsked] = useState<BackupRow | null>(null);
  const [unwanted, setUnwanted] = useState<BackupRow | null>(null);
  useTopic("backups", (frame) => client.setQueryData(backupsQuery.queryKey, frame.backups));
  const make = useMutation({
    mutationFn: makeBackup,
    onSuccess: (list) => client.setQueryData(backupsQuery.queryKey, list),
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
  });
  const list = backups.data;
  return (
    <>
      <LaterNzbs />
      <Card
        title={t("backups")}
        actions={
          <Button size="sm" isBusy={make.isPending || list?.isMaking === true} onClick={() => make.mutate()}>
            {list?.isMaking ? t("making") : t("make")}
          </Button>
        }
      >
        <p className="mb-3 text-sm text-muted">
          {t("backups-help")} {list && (list.nextAt === null ? t("next-none") : t("next-at", { when: formatAgo(list.nextAt) }))}
        </p>
        {backups.isPending && <SkeletonRows rows={3} />}
        {backups.error && (
          <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => void backups.refetch()}>{t("retry")}</Button>}>
            {ApiProblem.from(backups.error).title}
          </Notice>
        )}
        {list?.failure && <Notice tone="warn">{list.failure}</Notice>}
        {list?.items.length === 0 && (
          <EmptyState icon={DatabaseBackup} title={t("none")}>
            {t("none-body")}
          </EmptyState>
        )}
        <ul className="divide-y divide-line">
          {list?.items.map((row) => (
            <li key={row.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
              <div className="min-w-0 flex-1 basis-56">
                <p className="flex flex-wrap items-center gap-2 font-medium">
                  {formatDateTime(row.at)}
                  <Badge tone="ok">{t("made-and-checked")}</Badge>
                  {row.kind === "manual" && <Badge>{t("manual")}</Badge>}
                  {row.place !== "data-folder" && <Badge>{t(row.place === "both" ? "copied" : "only-copy")}</Badge>}
                </p>
                <p className="text-sm text-muted">
                  {t("contents", { files: formatNumber(row.files), nzbs: formatNumber(row.nzbs), size: formatBytes(row.bytes) })}
                  {row.stillTrueAt !== row.at && ` · ${t("still-true", { date: formatDateTime(row.stillTrueAt) })}`}
                </p>
              </div>
              <Button size="sm" aria-label={t("restore-of", { date: formatDateTime(row.at) })} onClick={() => setAsked(row)}>
                {t("restore")}
              </Button>
              <a
                href={urlOf(`api/backups/${row.id}`)}
                download
                title={t("download-of", { date: formatDateTime(row.at) })}
                aria-label={t("download-of", { date: formatDateTime(row.at) })}
                className={buttonClass("quiet", "sm", "size-8.5")}
              >
                <Icon of={Download} size={18} />
              </a>
              {list.items.length > 1 && <IconButton icon={Trash2} label={t("delete-of", { date: formatDateTime(row.at) })} onClick={() => setUnwanted(row)} />}
            </li>
          ))}
        </ul>
        {asked && <RestoreDialog backup={asked} onClose={() => setAsked(null)} />}
        <DeleteBackup backup={unwanted} onClose={() => setUnwanted(null)} />
      </Card>
      {list && <SecondFolder second={list.second} />}
    </>
  );
}

function DeleteBackup({ backup, onClose }: { backup: BackupRow | null; onClose: () => void }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (id: string) => deleteBackup(id),
    onSuccess: () => void toast({ tone: "ok", title: t("deleted") }),
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
    onSettled: () => {
      onClose();
      return client.invalidateQueries({ queryKey: backupsQuery.queryKey });
    },
  });
  return (
    <Dialog
      isOpen={backup !== null}
      onClose={onClose}
      size="sm"
      title={t("delete-title", { date: backup ? formatDateTime(backup.at) : "" })}
      description={t(backup?.place === "both" ? "delete-body-copied" : "delete-body")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button tone="danger" isBusy={remove.isPending} onClick={() => backup && remove.mutate(backup.id)}>
            {t("delete")}
          </Button>
        </>
      }
    />
  );
}

/** Reports stored NZBs that are in no library because they were added after the restored backup; renders nothing without any. */
function LaterNzbs() {
  const client = useQueryClient();
  const later = useQuery(laterQuery);
  const requeue = useMutation({
    mutationFn: requeueLater,
    onSuccess: ({ count }) => void toast({ tone: "ok", title: t("later-imported", { count }) }),
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
    onSettled: () => client.invalidateQueries({ queryKey: laterQuery.queryKey }),
  });
  if (!later.data || later.data.total === 0) return null;
  return (
    <Card title={t("later", { count: later.data.total })}>
      <p className="mb-3 text-sm text-muted">{t("later-help")}</p>
      <ul className="max-h-60 divide-y divide-line overflow-y-auto">
        {later.data.items.map((row) => (
          <li key={row.id} className="flex flex-wrap gap-x-3 py-1.5">
            <span className="min-w-0 flex-1 basis-56 wrap-anywhere">{row.name}</span>
            <span className="text-sm text-muted">{[row.category, formatDateTime(row.at)].filter((part) => part !== "").join(" · ")}</span>
          </li>
        ))}
      </ul>
      <Button tone="accent" className="mt-3" isBusy={requeue.isPending} onClick={() => requeue.mutate()}>
        {t("later-import")}
      </Button>
    </Card>
  );
}

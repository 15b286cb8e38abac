import { useQuery } from "@tanstack/react-query";
import { Download, FileCode, Play } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { Button } from "@/components/ui/button";
import { CopyBlock } from "@/components/ui/copy-block";
import { Sheet } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { KeyValues } from "@/components/ui/key-values";
import { LoadFailure } from "@/components/ui/load-failure";
import { SkeletonRows } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { formatBytes, formatDateTime } from "@/lib/format";
import { t } from "../en";
import { saveFile, saveNzb, saveStrm } from "../api/file-actions";
import { type FileDetail, fileQuery } from "../api/files";
import { folderPath, parentOf } from "../api/paths";
import { GapsNotice } from "./gaps-notice";
import { isPlayable } from "./file-table";
import { PlayerButtons } from "./player-buttons";

/** The details of a file and all actions on it. */
export function FileSheet({ id, onClose, onPlay }: { id: string; onClose: () => void; onPlay: (id: string) => void }) {
  const { data: file, error, refetch } = useQuery(fileQuery(id));
  const problem = error ? ApiProblem.from(error) : null;
  return (
    <Sheet isOpen onClose={onClose} size="md" title={file?.item.name ?? t("details")}>
      {problem?.status === 404 ? (
        <EmptyState title={t("file-gone")}>{t("file-gone-help")}</EmptyState>
      ) : problem ? (
        <LoadFailure problem={problem} onRetry={() => void refetch()} />
      ) : file ? (
        <Details file={file} onPlay={() => onPlay(id)} />
      ) : (
        <SkeletonRows />
      )}
    </Sheet>
  );
}

function Details({ file, onPlay }: { file: FileDetail; onPlay: () => void }) {
  const { item, links } = file;
  return (
    <div className="grid gap-6 wrap-anywhere">
      <GapsNotice file={item} />
      {isPlayable(item) && (
        <div className="flex flex-wrap gap-2">
          <Button tone="accent" icon={Play} onClick={onPlay}>
            {t("play")}
          </Button>
          <PlayerButtons file={file} />
        </div>
      )}
      <Part title={t("addresses")}>
        <CopyBlock label={t("webdav-address")} value={links.webDav} />
        <p className="-mt-1.5 text-sm text-muted">{t("webdav-help")}</p>
        <CopyBlock label={t("signed-address")} value={links.signed} />
        <p className="-mt-1.5 text-sm text-muted">{t("signed-help", { time: formatDateTime(links.signedUntil) })}</p>
        {links.arrPath === null ? (
          <div>
            <p className="text-sm text-muted">{t("arr-path")}</p>
            <p>
              {t("no-mount")}{" "}
              <Link to="/settings/library" className="font-medium text-accent underline">
                {t("set-mount")}
              </Link>
            </p>
          </div>
        ) : (
          <CopyBlock label={t("arr-path")} value={links.arrPath} />
        )}
      </Part>
      <Part title={t("downloads")}>
        <div className="flex flex-wrap gap-2">
          <Button icon={Download} onClick={() => saveFile(file)}>
            {t("download")}
          </Button>
          {file.hasNzb && item.id !== null && (
            <Button icon={Download} onClick={() => saveNzb(item.id ?? "")}>
              {t("nzb")}
            </Button>
          )}
          {isPlayable(item) && (
            <Button icon={FileCode} onClick={() => void saveStrm(file)}>
              {t("strm")}
            </Button>
          )}
        </div>
      </Part>
      <Part title={t("about")}>
        <KeyValues
          items={[
            { label: t("size"), value: item.bytes === null ? null : formatBytes(item.bytes) },
            {
              label: t("release"),
              value: (
                <Link to={folderPath(parentOf(item.path))} className="inline-flex min-h-6 items-center text-accent underline touch:min-h-11">
                  {file.release}
                </Link>
              ),
            },
            { label: t("category"), value: file.category },
            { label: t("added"), value: formatDateTime(item.modifiedAt) },
            { label: t("posted-as"), value: file.postedName },
            { label: t("volumes"), value: file.volumes > 0 ? t("volume-count", { count: file.volumes }) : null },
            { label: t("encrypted"), value: file.encrypted ? t("encrypted-yes") : null },
          ]}
        />
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid gap-2.5">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}

import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { formatBytes } from "@/lib/format";
import { listChanged } from "@/lib/live-list";
import { offerUndo } from "@/lib/undo";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { t } from "./delete-en";
import { LoadFailure } from "./load-failure";
import { Notice } from "./notice";
import { Spinner } from "./spinner";

type Impact = Schema<"FileRemovalState">;

/** Files to delete, as the API takes them. */
export type DeleteChoice = Partial<Schema<"FileItems">>;

interface DeleteDialogProps {
  choice: DeleteChoice;
  title: string;
  /** Label of the button that deletes. */
  action: string;
  onClose: () => void;
  /** Called after the files are deleted. */
  onDone?: () => void;
}

const bodyOf = (choice: DeleteChoice) => ({ ids: null, paths: null, filter: null, history: null, ...choice });

/** Shows what a deletion would take, who plays it and which apps imported it; then deletes the files and offers to undo that. */
export function DeleteDialog({ choice, title, action, onClose, onDone }: DeleteDialogProps) {
  const impact = useQuery({
    queryKey: ["delete-impact", choice],
    queryFn: ({ signal }) => dataOf(api.DELETE("/api/files", { params: { query: { dryRun: true } }, body: bodyOf(choice), signal })),
    // Not cached, because playbacks and files change.
    gcTime: 0,
  });
  const remove = useMutation({
    mutationFn: () => dataOf(api.DELETE("/api/files", { body: bodyOf(choice) })),
    onSuccess: (removed) => {
      listChanged("history");
      offerUndo(removed.undo, { title: t("deleted", { count: removed.files }), undo: t("undo"), failed: t("undo-failed") });
      onDone?.();
      onClose();
    },
  });
  const isNothing = impact.data?.files === 0 && impact.data.historyItems === 0;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      size="sm"
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button tone="danger" disabled={!impact.data || isNothing} isBusy={remove.isPending} onClick={() => remove.mutate()}>
            {action}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 wrap-anywhere">
        {impact.isPending && (
          <p role="status" className="flex items-center gap-2 text-muted">
            <Spinner /> {t("checking")}
          </p>
        )}
        {impact.error && <LoadFailure problem={ApiProblem.from(impact.error)} onRetry={() => void impact.refetch()} />}
        {impact.data && <ImpactText impact={impact.data} />}
        {remove.error && (
          <Notice tone="bad" isAlert>
            {ApiProblem.from(remove.error).title}
          </Notice>
        )}
      </div>
    </Dialog>
  );
}

function ImpactText({ impact }: { impact: Impact }): ReactNode {
  const { files, bytes, releases, historyItems, playing, programs, asked } = impact;
  if (files === 0) return <p>{historyItems === 0 ? t("nothing") : t("no-files", { count: historyItems })}</p>;
  const owners = programs.filter(({ imported }) => imported > 0);
  const silent = programs.filter(({ failure }) => failure !== null);
  return (
    <>
      <p>
        {t("impact", { count: files, size: formatBytes(bytes) })} {t("kept")}
      </p>
      {playing.length > 0 && (
        <Notice tone="warn">
          {t("playing", { count: playing.length })}
          <ul>
            {playing.map(({ client, player, name }, at) => (
              <li key={at} className="text-sm">
                {t("played-by", { name, player: player === "" ? client : `${player}, ${client}` })}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {owners.map(({ name, imported }) => (
        <Notice key={name} tone="warn">
          {releases > asked ? t("imported-of", { count: imported, name, asked }) : t("imported", { count: imported, name })}
        </Notice>
      ))}
      {silent.map(({ name, failure }) => (
        <p key={name} className="text-sm text-muted">
          {t("not-asked", { name, failure: failure ?? "" })}
        </p>
      ))}
    </>
  );
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { usePasswordAgain } from "@/components/ui/use-password-again";
import { ApiProblem } from "@/lib/api-problem";
import { toast } from "@/lib/toast";
import { type SettingField, saveSettings, setsQuery, valuesQuery } from "./api/settings";
import { t } from "./en";
import { inWords } from "./setting-values";

/** A changed setting that is not saved yet. */
export interface Change {
  field: SettingField;
  before: string;
  after: string;
}

interface SaveBarProps {
  changes: readonly Change[];
  /** Returns false if a value is invalid, and focuses the first such field. */
  check: () => boolean;
  onDiscard: () => void;
  onSaved: () => void;
  onRefused: (problem: ApiProblem) => void;
}

/** Counts the changed settings of a page and saves them after a comparison of old and new values. */
export function SaveBar({ changes, check, onDiscard, onSaved, onRefused }: SaveBarProps) {
  const client = useQueryClient();
  const [isReviewing, setReviewing] = useState(false);
  const again = usePasswordAgain();
  const save = useMutation({
    mutationFn: () => saveSettings(Object.fromEntries(changes.map((change) => [change.field.key, change.after])), again.body),
    onSuccess: (values) => {
      const restarts = changes.filter((change) => change.field.restart).map((change) => change.field.title);
      toast({ tone: "ok", title: t("saved"), ...(restarts.length > 0 ? { body: t("saved-restart", { titles: restarts.join(", ") }), seconds: null } : {}) });
      client.setQueryData(valuesQuery.queryKey, values);
      void client.invalidateQueries({ queryKey: setsQuery.queryKey });
      setReviewing(false);
      onSaved();
    },
    onError: (error) => {
      const problem = ApiProblem.from(error);
      if (again.takes(problem)) return;
      setReviewing(false);
      onRefused(problem);
    },
  });
  const count = changes.length;
  if (count === 0) return null;
  const restarts = changes.filter((change) => change.field.restart).length;
  return (
    <div className="sticky bottom-[calc(var(--tabs)+0.75rem)] z-10 flex flex-wrap items-center gap-2 rounded-xl bg-raised px-4 py-2.5 shadow-float">
      <p role="status" className="me-auto font-medium">
        {t("changes", { count })}
      </p>
      <Button tone="quiet" onClick={onDiscard}>
        {t("discard")}
      </Button>
      <Button tone="accent" onClick={() => check() && setReviewing(true)}>
        {t("review")}
      </Button>
      <Dialog
        isOpen={isReviewing}
        onClose={() => setReviewing(false)}
        title={t("save-title", { count })}
        {...(restarts > 0 ? { description: t("restart-needed", { count: restarts }) } : {})}
        footer={
          <>
            <Button onClick={() => setReviewing(false)}>{t("cancel")}</Button>
            <Button tone="accent" isBusy={save.isPending} onClick={() => save.mutate()}>
              {t("save")}
            </Button>
          </>
        }
      >
        <ul className="grid gap-3">
          {changes.map(({ field, before, after }) => (
            <li key={field.key} className="grid gap-1.5 rounded-lg border border-line px-3 py-2.5">
              <p className="flex flex-wrap items-center gap-2 font-medium">
                {field.title}
                {field.restart && <Badge tone="warn">{t("restart")}</Badge>}
              </p>
              <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-sm">
                <dt className="text-muted">{t("before")}</dt>
                <dd className="wrap-anywhere text-muted line-through">{inWords(field, before)}</dd>
                <dt className="text-muted">{t("after")}</dt>
                <dd className="font-medium wrap-anywhere">{inWords(field, after)}</dd>
              </dl>
            </li>
          ))}
        </ul>
        {again.field}
      </Dialog>
    </div>
  );
}

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Dialog } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { formatDateTime } from "@/lib/format";
import { toast } from "@/lib/toast";
import { type SettingsSet, restoreSet, setsQuery, valuesQuery } from "./api/settings";
import { t } from "./en";

/** Lists the recently saved sets, with a button to restore each one. */
export function SetsCard({ titles }: { titles: ReadonlyMap<string, string> }) {
  const client = useQueryClient();
  const sets = useQuery(setsQuery);
  const [asked, setAsked] = useState<SettingsSet | null>(null);
  const date = asked ? formatDateTime(asked.saved) : "";
  const restore = useMutation({
    mutationFn: (id: string) => restoreSet(id),
    onSuccess: (values) => {
      client.setQueryData(valuesQuery.queryKey, values);
      toast({ tone: "ok", title: t("restored", { date }) });
    },
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
    onSettled: () => {
      setAsked(null);
      return client.invalidateQueries({ queryKey: setsQuery.queryKey });
    },
  });
  return (
    <Card title={t("sets")}>
      <p className="mb-3 text-sm text-muted">{t("sets-help")}</p>
      {sets.isPending && <SkeletonRows rows={2} />}
      {sets.error && (
        <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => void sets.refetch()}>{t("try-again")}</Button>}>
          {ApiProblem.from(sets.error).title}
        </Notice>
      )}
      {sets.data?.items.length === 0 && <p className="py-2 text-muted">{t("sets-none")}</p>}
      <ul className="divide-y divide-line">
        {sets.data?.items.map((set) => (
          <li key={set.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
            <div className="min-w-0 flex-1 basis-56">
              <p className="flex flex-wrap items-center gap-2 font-medium">
                {formatDateTime(set.saved)}
                {set.failedStart && <Badge tone="bad">{t("set-failed")}</Badge>}
              </p>
              {set.keys.length > 0 && (
                <p className="text-sm text-muted wrap-anywhere">{t("set-keys", { titles: set.keys.map((key) => titles.get(key) ?? key).join(", ") })}</p>
              )}
            </div>
            <Button size="sm" aria-label={t("restore-of", { date: formatDateTime(set.saved) })} onClick={() => setAsked(set)}>
              {t("restore")}
            </Button>
          </li>
        ))}
      </ul>
      <Dialog
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        size="sm"
        title={t("restore-title", { date })}
        description={t("restore-body")}
        footer={
          <>
            <Button onClick={() => setAsked(null)}>{t("cancel")}</Button>
            <Button tone="accent" isBusy={restore.isPending} onClick={() => asked && restore.mutate(asked.id)}>
              {t("restore")}
            </Button>
          </>
        }
      />
    </Card>
  );
}

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { CopyBlock } from "@/components/ui/copy-block";
import { Dialog } from "@/components/ui/dialog";
import { Icon } from "@/components/ui/icon";
import { Notice } from "@/components/ui/notice";
import { SelectField } from "@/components/ui/select-field";
import { SkeletonRows } from "@/components/ui/skeleton";
import { TextField } from "@/components/ui/text-field";
import { usePasswordAgain } from "@/components/ui/use-password-again";
import { type Schema, api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { formatAgo } from "@/lib/format";
import { toast } from "@/lib/toast";
import { keysQuery } from "./api/settings";
import { t } from "./en";

type KeyEntry = Schema<"KeyEntry">;

/** Lists, creates and removes named API keys for scripts. */
export function KeysCard() {
  const keys = useQuery(keysQuery);
  const [isMaking, setMaking] = useState(false);
  const [removed, setRemoved] = useState<KeyEntry | null>(null);
  return (
    <Card
      title={t("keys")}
      actions={
        <Button size="sm" icon={Plus} onClick={() => setMaking(true)}>
          {t("key-new")}
        </Button>
      }
    >
      <p className="mb-3 text-sm text-muted">{t("keys-help")}</p>
      {keys.isPending && <SkeletonRows rows={2} />}
      {keys.error && (
        <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => void keys.refetch()}>{t("try-again")}</Button>}>
          {ApiProblem.from(keys.error).title}
        </Notice>
      )}
      {keys.data?.items.length === 0 && <p className="py-2 text-muted">{t("keys-none")}</p>}
      <ul className="divide-y divide-line">
        {keys.data?.items.map((entry) => (
          <li key={entry.id} className="flex items-center gap-3 py-2">
            <Icon of={KeyRound} className="text-muted" />
            <div className="min-w-0 flex-1">
              <p className="flex flex-wrap items-center gap-2 font-medium">
                <span className="wrap-anywhere">{entry.name}</span>
                <Badge>{t(`access.${entry.access}`)}</Badge>
              </p>
              <p className="text-sm text-muted">
                {t("key-created", { ago: formatAgo(entry.created) })} · {entry.lastUsed ? t("key-used", { ago: formatAgo(entry.lastUsed) }) : t("key-unused")}
              </p>
            </div>
            <IconButton icon={Trash2} label={t("key-remove-of", { name: entry.name })} onClick={() => setRemoved(entry)} />
          </li>
        ))}
      </ul>
      <Dialog isOpen={isMaking} onClose={() => setMaking(false)} size="sm" title={t("key-new")}>
        <NewKey onClose={() => setMaking(false)} />
      </Dialog>
      <RemoveKey entry={removed} onClose={() => setRemoved(null)} />
    </Card>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [access, setAccess] = useState<KeyEntry["access"]>("read");
  const [error, setError] = useState<string | undefined>();
  const again = usePasswordAgain();
  const make = useMutation({
    mutationFn: () => dataOf(api.POST("/api/keys", { body: { name: name.trim(), access, ...again.body } })),
    onError: (refused) => {
      const problem = ApiProblem.from(refused);
      if (!again.takes(problem)) setError(problem.title);
    },
    onSettled: () => client.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (name.trim() === "") return setError(t("need-name"));
    setError(undefined);
    make.mutate();
  }
  if (make.data) {
    return (
      <div className="grid gap-4">
        <Notice tone="warn">{t("key-made")}</Notice>
        <CopyBlock label={t("key-value", { name: make.data.name })} value={make.data.key} />
        <Button tone="accent" className="justify-self-end" onClick={onClose}>
          {t("close")}
        </Button>
      </div>
    );
  }
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      <TextField label={t("key-name")} help={t("key-name-help")} value={name} error={error} autoFocus onChange={(event) => setName(event.target.value)} />
      <SelectField
        label={t("key-access")}
        value={access}
        options={(["read", "full"] as const).map((value) => ({ value, label: t(`access.${value}`) }))}
        onChange={setAccess}
      />
      {again.field}
      <Button type="submit" tone="accent" isBusy={make.isPending} className="justify-self-end">
        {t("key-new")}
      </Button>
    </form>
  );
}

function RemoveKey({ entry, onClose }: { entry: KeyEntry | null; onClose: () => void }) {
  const client = useQueryClient();
  const name = entry?.name ?? "";
  const remove = useMutation({
    mutationFn: (id: string) => api.DELETE("/api/keys/{id}", { params: { path: { id } } }),
    onSuccess: () => {
      toast({ title: t("key-removed", { name }) });
      onClose();
    },
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
    onSettled: () => client.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  return (
    <Dialog
      isOpen={entry !== null}
      onClose={onClose}
      size="sm"
      title={t("key-remove-title", { name })}
      description={t("key-remove-body")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button tone="danger" isBusy={remove.isPending} onClick={() => entry && remove.mutate(entry.id)}>
            {t("key-remove")}
          </Button>
        </>
      }
    />
  );
}

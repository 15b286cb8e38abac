import { useMutation, useQuery } from "@tanstack/react-query";
import { DatabaseBackup, HeartPulse } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useLocation } from "react-router";
import { Button, ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { CheckboxField } from "@/components/ui/switch-field";
import { PasswordField, TextField } from "@/components/ui/text-field";
import { ApiProblem } from "@/lib/api-problem";
import { formatDateTime } from "@/lib/format";
import { useReloadAfterRestart } from "@/lib/restart";
import { type RescueList, openRescue, rescueQuery, rescueWith } from "./api/rescue";
import { t } from "./en";

/** Leads out of safe mode: the cause, the code, then a backup. */
export function RescuePage() {
  const state = useQuery(rescueQuery);
  const [opened, setOpened] = useState<{ code: string; list: RescueList } | null>(null);
  if (state.isPending) return <SkeletonRows rows={4} />;
  if (state.error) {
    const problem = ApiProblem.from(state.error);
    return problem.status === 404 ? (
      <EmptyState icon={HeartPulse} title={t("no-rescue")} actions={<ButtonLink to="/">{t("to-overview")}</ButtonLink>}>
        {t("no-rescue-body")}
      </EmptyState>
    ) : (
      <Notice tone="bad" isAlert>
        {problem.title}
      </Notice>
    );
  }
  return (
    <div className="grid gap-5">
      <Notice tone="bad">{state.data.cause}</Notice>
      {opened ? <Backups code={opened.code} list={opened.list} /> : <CodeForm onOpen={(code, list) => setOpened({ code, list })} />}
    </div>
  );
}

function CodeForm({ onOpen }: { onOpen: (code: string, list: RescueList) => void }) {
  // The link in the log contains the code.
  const [code, setCode] = useState(useLocation().hash.slice(1));
  const [error, setError] = useState<string | undefined>();
  const open = useMutation({
    mutationFn: () => openRescue(code),
    onSuccess: (list) => onOpen(code, list),
    onError: (refused) => {
      const problem = ApiProblem.from(refused);
      setError(problem.field("code") ?? problem.title);
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (code.trim() === "") return setError(t("need-code"));
    setError(undefined);
    open.mutate();
  }
  return (
    <Card>
      <form noValidate onSubmit={submit} className="grid gap-4">
        <TextField
          label={t("code")}
          help={t("code-help")}
          value={code}
          error={error}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setCode(event.target.value)}
        />
        <Button type="submit" tone="accent" isBusy={open.isPending}>
          {t("go")}
        </Button>
      </form>
    </Card>
  );
}

function Backups({ code, list }: { code: string; list: RescueList }) {
  const [chosen, setChosen] = useState(list.items[0]?.backup.id);
  const [requeue, setRequeue] = useState(true);
  const [passphrase, setPassphrase] = useState("");
  const cost = list.items.find(({ backup }) => backup.id === chosen)?.cost;
  const restore = useMutation({ mutationFn: (id: string) => rescueWith(code, id, requeue, cost?.needsPassphrase ? passphrase : "") });
  useReloadAfterRestart(restore.isSuccess);
  if (restore.isSuccess) return <Notice>{t("restarting")}</Notice>;
  if (chosen === undefined) {
    return (
      <EmptyState icon={DatabaseBackup} title={t("none")}>
        {t("none-body")}
      </EmptyState>
    );
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    if (chosen !== undefined) restore.mutate(chosen);
  }
  return (
    <Card>
      <form noValidate onSubmit={submit} className="grid gap-4">
        <fieldset className="grid gap-2">
          <legend className="mb-2 font-medium">{t("choose")}</legend>
          {list.items.map(({ backup, cost }) => (
            <label key={backup.id} className="flex min-h-11 items-start gap-3 rounded-lg border border-line px-3 py-2.5 has-checked:border-accent">
              <input
                type="radio"
                name="backup"
                value={backup.id}
                checked={backup.id === chosen}
                onChange={() => setChosen(backup.id)}
                className="mt-0.5 size-5 shrink-0 accent-accent"
              />
              <span className="min-w-0">
                <span className="block font-medium">{formatDateTime(backup.at)}</span>
                <span className="block text-sm text-muted wrap-anywhere">{cost.sentence}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {cost?.needsPassphrase && (
          <PasswordField
            label={t("passphrase")}
            help={t("passphrase-help")}
            autoComplete="off"
            value={passphrase}
            onChange={(event) => setPassphrase(event.target.value)}
          />
        )}
        <CheckboxField label={t("requeue")} isOn={requeue} onChange={setRequeue} />
        <p className="text-sm text-muted">{t("restore-help")}</p>
        {restore.error && (
          <Notice tone="bad" isAlert>
            {ApiProblem.from(restore.error).title}
          </Notice>
        )}
        <Button type="submit" tone="accent" isBusy={restore.isPending}>
          {t("restore")}
        </Button>
      </form>
    </Card>
  );
}

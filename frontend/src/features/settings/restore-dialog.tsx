import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { Spinner } from "@/components/ui/spinner";
import { CheckboxField } from "@/components/ui/switch-field";
import { PasswordField } from "@/components/ui/text-field";
import { usePasswordAgain } from "@/components/ui/use-password-again";
import { ApiProblem } from "@/lib/api-problem";
import { formatDateTime } from "@/lib/format";
import { useReloadAfterRestart } from "@/lib/restart";
import { type BackupRow, restoreBackup, restoreCostQuery } from "./api/backups";
import { t } from "./backups-en";

/** Shows the cost of restoring a backup, then restores it. */
export function RestoreDialog({ backup, onClose }: { backup: BackupRow; onClose: () => void }) {
  return (
    <Dialog isOpen onClose={onClose} title={t("restore-title", { date: formatDateTime(backup.at) })} description={t("restore-body")}>
      <RestoreForm backup={backup} onClose={onClose} />
    </Dialog>
  );
}

function RestoreForm({ backup, onClose }: { backup: BackupRow; onClose: () => void }) {
  const cost = useQuery(restoreCostQuery(backup.id));
  const [requeue, setRequeue] = useState(true);
  const [passphrase, setPassphrase] = useState("");
  const [wrongPassphrase, setWrongPassphrase] = useState<string | undefined>();
  const [failure, setFailure] = useState<string | null>(null);
  const password = usePasswordAgain();
  const restore = useMutation({
    mutationFn: () => restoreBackup(backup.id, requeue, { ...password.body, ...(passphrase === "" ? {} : { passphrase }) }),
    onError: (error) => {
      const problem = ApiProblem.from(error);
      const wrong = problem.field("passphrase");
      setWrongPassphrase(wrong);
      setFailure(wrong !== undefined || password.takes(problem) ? null : problem.title);
    },
  });
  useReloadAfterRestart(restore.isSuccess);
  function submit(event: FormEvent) {
    event.preventDefault();
    setFailure(null);
    restore.mutate();
  }
  if (restore.isSuccess) return <Notice>{t("restarting")}</Notice>;
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      {cost.isPending && (
        <p role="status" className="flex items-center gap-2 text-muted">
          <Spinner /> {t("checking")}
        </p>
      )}
      {cost.error && (
        <Notice tone="bad" isAlert>
          {ApiProblem.from(cost.error).title}
        </Notice>
      )}
      {cost.data && <p>{cost.data.sentence}</p>}
      {cost.data && cost.data.later > 0 && <CheckboxField label={t("requeue")} isOn={requeue} onChange={setRequeue} />}
      {cost.data?.needsPassphrase && (
        <PasswordField
          label={t("passphrase")}
          help={t("passphrase-help")}
          autoComplete="off"
          value={passphrase}
          error={wrongPassphrase}
          onChange={(event) => setPassphrase(event.target.value)}
        />
      )}
      {password.field}
      {failure && (
        <Notice tone="bad" isAlert>
          {failure}
        </Notice>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button type="submit" tone="danger" disabled={!cost.data} isBusy={restore.isPending}>
          {t("restore")}
        </Button>
      </div>
    </form>
  );
}

import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { ApiProblem } from "@/lib/api-problem";
import { toast } from "@/lib/toast";
import { type ProviderRow, providersQuery, refillProvider, resetProvider } from "./api/providers";
import { t } from "./en";
import { bytesOf } from "./provider-draft";
import { SizeField } from "./quota-fields";

interface QuotaDialogProps {
  row: ProviderRow;
  isOpen: boolean;
  onClose: () => void;
}

/** Asks how much was added to a data cap, and adds it. */
export function RefillDialog({ row, isOpen, onClose }: QuotaDialogProps) {
  const form = useId();
  const [size, setSize] = useState("");
  const [error, setError] = useState<string>();
  const { isBusy, problem, run } = useChange(() => {
    setSize("");
    onClose();
  });
  const isBlock = row.quota?.nextReset === null;
  function submit(event: FormEvent) {
    event.preventDefault();
    const bytes = bytesOf(size) ?? 0;
    if (bytes > 0) void run(() => refillProvider(row.id, bytes), t("refilled", { name: row.name }));
    else setError(t("bad-size"));
  }

  function change(next: string) {
    setSize(next);
    setError(undefined);
  }

  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      size="sm"
      title={t("refill-title", { name: row.name })}
      description={isBlock ? t("refill-body-block") : t("refill-body-monthly")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button type="submit" form={form} tone="accent" isBusy={isBusy}>
            {t("refill-now")}
          </Button>
        </>
      }
    >
      <form id={form} noValidate onSubmit={submit} className="grid gap-4">
        <SizeField label={t("refill-size")} name="bytes" value={size} error={error} onChange={change} />
        {problem && (
          <Notice tone="bad" isAlert>
            {problem.title}
          </Notice>
        )}
      </form>
    </Dialog>
  );
}

/** Confirms that the used bytes of a data cap start at zero again. */
export function StartOverDialog({ row, isOpen, onClose }: QuotaDialogProps) {
  const { isBusy, problem, run } = useChange(onClose);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      size="sm"
      title={t("start-over-title", { name: row.name })}
      description={t("start-over-body")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button tone="danger" isBusy={isBusy} onClick={() => void run(() => resetProvider(row.id, "bytes"), t("started-over", { name: row.name }))}>
            {t("start-over-now")}
          </Button>
        </>
      }
    >
      {problem && (
        <Notice tone="bad" isAlert>
          {problem.title}
        </Notice>
      )}
    </Dialog>
  );
}

/** Runs one change of a provider, loads the list again, and closes the dialog. */
function useChange(onDone: () => void) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  async function run(change: () => Promise<void>, title: string) {
    setBusy(true);
    setProblem(null);
    try {
      await change();
      await client.invalidateQueries({ queryKey: providersQuery.queryKey });
      toast({ tone: "ok", title });
      onDone();
    } catch (error) {
      setProblem(ApiProblem.from(error));
    } finally {
      setBusy(false);
    }
  }

  return { isBusy, problem, run };
}

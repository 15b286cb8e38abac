import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Dialog } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { PasswordField } from "@/components/ui/text-field";
import { ApiProblem } from "@/lib/api-problem";
import { toast } from "@/lib/toast";
import { type SecretKeyReport, giveUpSecretKey, secretKeyQuery } from "./api/settings";
import { t } from "./en";

/** Reports a lost key file and offers to replace it; renders nothing if no secret is locked. */
export function SecretKeyCard() {
  const report = useQuery(secretKeyQuery);
  const [isAsking, setAsking] = useState(false);
  if (!report.data?.sentence) return null;
  return (
    <Card title={t("key-lost")}>
      <Notice tone="bad" isAlert>
        {report.data.sentence}
      </Notice>
      <p className="my-3 text-sm text-muted">{t("key-lost-help", { file: report.data.file })}</p>
      <Costs report={report.data} />
      <Button tone="danger" className="mt-3" onClick={() => setAsking(true)}>
        {t("key-give-up")}
      </Button>
      <Dialog isOpen={isAsking} onClose={() => setAsking(false)} size="sm" title={t("key-give-up-title")} description={t("key-give-up-body")}>
        <GiveUp report={report.data} onClose={() => setAsking(false)} />
      </Dialog>
    </Card>
  );
}

/** The values lost with the key. */
function Costs({ report }: { report: SecretKeyReport }) {
  const items = [
    ...(report.queueItems > 0 ? [t("key-queue", { count: report.queueItems })] : []),
    ...(report.historyItems > 0 ? [t("key-history", { count: report.historyItems })] : []),
    ...(report.releases > 0 ? [t("key-releases", { count: report.releases })] : []),
  ];
  return (
    <div className="grid gap-3 text-sm">
      {report.settings.length > 0 && (
        <section>
          <h3 className="font-medium">{t("key-settings")}</h3>
          <ul className="mt-1 list-disc ps-5">
            {report.settings.map((setting) => (
              <li key={setting.key}>
                <span className="font-medium">{setting.title}</span>: {setting.sentence}
              </li>
            ))}
          </ul>
        </section>
      )}
      {report.links.length + items.length > 0 && (
        <section>
          <h3 className="font-medium">{t("key-stops")}</h3>
          <ul className="mt-1 list-disc ps-5">
            {[...report.links, ...items].map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function GiveUp({ report, onClose }: { report: SecretKeyReport; onClose: () => void }) {
  const client = useQueryClient();
  const [password, setPassword] = useState("");
  const [error, setError] = useState<string | undefined>();
  const giveUp = useMutation({
    mutationFn: () => giveUpSecretKey(report.id, password),
    onSuccess: async (left) => {
      toast({ tone: "ok", title: t("key-given-up") });
      client.setQueryData(secretKeyQuery.queryKey, left);
      await client.invalidateQueries({ queryKey: ["settings"] });
      onClose();
    },
    onError: (refused) => {
      const problem = ApiProblem.from(refused);
      setError(problem.errors.password?.[0] ?? problem.title);
      void client.invalidateQueries({ queryKey: secretKeyQuery.queryKey });
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (password === "") return setError(t("need-old"));
    setError(undefined);
    giveUp.mutate();
  }
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      <Costs report={report} />
      <PasswordField
        label={t("old-password")}
        autoComplete="current-password"
        value={password}
        error={error}
        onChange={(event) => setPassword(event.target.value)}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button type="submit" tone="danger" isBusy={giveUp.isPending}>
          {t("key-give-up")}
        </Button>
      </div>
    </form>
  );
}

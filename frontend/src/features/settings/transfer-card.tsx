import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, Upload } from "lucide-react";
import { useRef } from "react";
import { Button, buttonClass } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Icon } from "@/components/ui/icon";
import { Notice } from "@/components/ui/notice";
import { ApiProblem } from "@/lib/api-problem";
import { toast } from "@/lib/toast";
import { urlOf } from "@/lib/url-base";
import { importSettings, setsQuery, valuesQuery } from "./api/settings";
import { t } from "./en";

const fileName = "sluice-settings.txt";

/** Exports and imports the settings as a file. */
export function TransferCard() {
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const take = useMutation({
    mutationFn: async (file: File) => importSettings(await file.text()),
    onSuccess: (values) => {
      client.setQueryData(valuesQuery.queryKey, values);
      toast({ tone: "ok", title: t("imported") });
      return client.invalidateQueries({ queryKey: setsQuery.queryKey });
    },
  });
  const problem = take.error && ApiProblem.from(take.error);
  const errors = Object.entries(problem?.errors ?? {});
  return (
    <Card title={t("transfer")}>
      <p className="mb-3 text-sm text-muted">{t("transfer-help")}</p>
      <div className="flex flex-wrap gap-2">
        <a href={urlOf("api/settings/export")} download={fileName} className={buttonClass()}>
          <Icon of={Download} />
          {t("export")}
        </a>
        <Button icon={Upload} isBusy={take.isPending} onClick={() => input.current?.click()}>
          {t("import")}
        </Button>
        <input
          ref={input}
          type="file"
          hidden
          accept=".txt,text/plain"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) take.mutate(file);
            event.target.value = "";
          }}
        />
      </div>
      {problem && (
        <div className="mt-3">
          <Notice tone="bad" isAlert>
            <p className="font-medium">{t("import-failed")}</p>
            <ul className="list-disc ps-5">
              {errors.length === 0 && <li>{problem.title}</li>}
              {errors.map(([key, sentences]) => (
                <li key={key}>{`${key}: ${sentences.join(" ")}`}</li>
              ))}
            </ul>
          </Notice>
        </div>
      )}
    </Card>
  );
}

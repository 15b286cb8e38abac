import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyBlock } from "@/components/ui/copy-block";
import { Dialog } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { usePasswordAgain } from "@/components/ui/use-password-again";
import { ApiProblem } from "@/lib/api-problem";
import { makeWebDavPassword, webDavQuery } from "./api/apps";
import { t } from "./en";
import { passwordMark } from "./snippets";

/** Shows the WebDAV password while that is possible, or its placeholder, and creates a new one; then it names the clients that are locked out. */
export function WebDavPassword({ isMarked = false }: { isMarked?: boolean }) {
  const client = useQueryClient();
  const webDav = useQuery(webDavQuery);
  const [isAsking, setAsking] = useState(false);
  const again = usePasswordAgain();
  const make = useMutation({
    mutationFn: () => makeWebDavPassword(again.body),
    onSuccess: (made) => {
      client.setQueryData(webDavQuery.queryKey, made);
      setAsking(false);
    },
    onError: (error) => {
      if (!again.takes(ApiProblem.from(error))) setAsking(false);
    },
  });
  const password = webDav.data?.password ?? null;
  return (
    <div className="grid gap-3">
      {password !== null ? (
        <>
          <CopyBlock label={t("password")} value={password} />
          <p className="text-sm text-muted">{t("password-shown")}</p>
        </>
      ) : (
        <p className="text-muted">{isMarked ? t("password-hidden-marked", { mark: passwordMark }) : t("password-hidden")}</p>
      )}
      {make.data && (
        <Notice tone={make.data.lockedOut.length > 0 ? "warn" : "ok"}>
          {make.data.lockedOut.length === 0 ? (
            t("locked-out-none")
          ) : (
            <>
              <p>{t("locked-out", { count: make.data.lockedOut.length })}</p>
              <ul className="mt-1 list-disc ps-5">
                {make.data.lockedOut.map((name) => (
                  <li key={name}>{name}</li>
                ))}
              </ul>
            </>
          )}
        </Notice>
      )}
      {make.error && !isAsking && (
        <Notice tone="bad" isAlert>
          {ApiProblem.from(make.error).title}
        </Notice>
      )}
      <Button size="sm" className="w-fit" onClick={() => setAsking(true)}>
        {t("make-password")}
      </Button>
      <Dialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        size="sm"
        title={t("make-title")}
        description={t("make-body")}
        footer={
          <>
            <Button onClick={() => setAsking(false)}>{t("cancel")}</Button>
            <Button tone="accent" isBusy={make.isPending} onClick={() => make.mutate()}>
              {t("make-do")}
            </Button>
          </>
        }
      >
        {again.field}
      </Dialog>
    </div>
  );
}

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { SwitchField } from "@/components/ui/switch-field";
import { PasswordField, TextField } from "@/components/ui/text-field";
import { api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { sessionQuery } from "@/lib/session";
import { toast } from "@/lib/toast";
import { keysQuery, sessionsQuery } from "./api/settings";
import { t } from "./en";

type Errors = Partial<Record<"user" | "oldPassword" | "newPassword", string>>;

const shortest = 8;

/** Changes name and password of the administrator. */
export function AccountCard() {
  const client = useQueryClient();
  const session = useQuery(sessionQuery);
  const keys = useQuery(keysQuery);
  const [endsKeys, setEndsKeys] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<Errors>({});
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);

  function show(wrong: Errors): boolean {
    setErrors(wrong);
    const first = (["user", "oldPassword", "newPassword"] as const).find((name) => wrong[name]);
    if (first) form.current?.querySelector<HTMLInputElement>(`[name=${first}]`)?.focus();
    return !first;
  }

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const target = event.currentTarget;
    const values = new FormData(target);
    const [user, oldPassword, newPassword] = ["user", "oldPassword", "newPassword"].map((name) => String(values.get(name) ?? "")) as [string, string, string];
    setProblem(null);
    const isRight = show({
      ...(user.trim() === "" ? { user: t("need-user") } : {}),
      ...(oldPassword === "" ? { oldPassword: t("need-old") } : {}),
      ...(newPassword !== "" && newPassword.length < shortest ? { newPassword: t("short-password") } : {}),
    });
    if (!isRight) return;
    setBusy(true);
    try {
      const changed = await dataOf(api.PUT("/api/account", { body: { user: user.trim(), oldPassword, newPassword: newPassword || null, endKeys: endsKeys } }));
      client.setQueryData(sessionQuery.queryKey, changed);
      for (const { queryKey } of [keysQuery, sessionsQuery]) void client.invalidateQueries({ queryKey });
      setEndsKeys(false);
      target.reset();
      toast({ tone: "ok", title: t("login-saved") });
    } catch (error) {
      const refused = ApiProblem.from(error);
      const wrong = Object.fromEntries(Object.entries(refused.errors).map(([name, sentences]) => [name, sentences[0]])) as Errors;
      if (show(wrong)) setProblem(refused);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Card title={t("login")}>
      <p className="mb-4 text-sm text-muted">{t("login-help")}</p>
      <form ref={form} key={session.data?.user} noValidate onSubmit={(event) => void submit(event)} className="grid gap-4">
        <TextField label={t("user")} name="user" autoComplete="username" defaultValue={session.data?.user} error={errors.user} />
        <PasswordField label={t("old-password")} name="oldPassword" autoComplete="current-password" error={errors.oldPassword} />
        <PasswordField label={t("new-password")} name="newPassword" autoComplete="new-password" help={t("new-password-help")} error={errors.newPassword} isOptional />
        {keys.data && keys.data.items.length > 0 && (
          <SwitchField label={t("end-keys")} help={t("end-keys-help", { count: keys.data.items.length })} isOn={endsKeys} onChange={setEndsKeys} />
        )}
        {problem && (
          <Notice tone="bad" isAlert>
            {problem.title}
          </Notice>
        )}
        <Button type="submit" tone="accent" isBusy={isBusy} className="justify-self-end">
          {t("save")}
        </Button>
      </form>
    </Card>
  );
}

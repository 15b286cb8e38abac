import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { PasswordField, TextField } from "@/components/ui/text-field";
import { api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { sessionQuery } from "@/lib/session";
import { t } from "./en";
import { Forgot } from "./forgot";

const usualWait = 60;

/** The form for user and password; `onLogin` is called once there is a session. */
export function LoginForm({ onLogin }: { onLogin: () => void }) {
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [missing, setMissing] = useState<{ user: boolean; password: boolean }>({ user: false, password: false });
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [wait, setWait] = useState(0);
  const isWaiting = wait > 0;

  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => setWait((seconds) => seconds - 1), 1_000);
    return () => clearInterval(timer);
  }, [isWaiting]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const body = { user: String(values.get("user")).trim(), password: String(values.get("password")) };
    setMissing({ user: body.user === "", password: body.password === "" });
    setProblem(null);
    if (body.user === "" || body.password === "") return focus(body.user === "" ? "user" : "password");
    setBusy(true);
    try {
      const session = await dataOf(api.POST("/api/session", { body }));
      client.setQueryData(sessionQuery.queryKey, session);
      onLogin();
    } catch (error) {
      const refused = ApiProblem.from(error);
      if (refused.status === 429) setWait(refused.retryAfter ?? usualWait);
      else setProblem(refused);
      focus("password");
    } finally {
      setBusy(false);
    }
  }

  function focus(name: string) {
    const input = form.current?.querySelector<HTMLInputElement>(`[name=${name}]`);
    input?.focus();
    input?.select();
  }

  return (
    <div className="grid gap-4">
      <Card>
        <form ref={form} noValidate onSubmit={(event) => void submit(event)} className="grid gap-4 pt-1">
          <TextField
            label={t("user")}
            name="user"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            error={missing.user ? t("need-user") : undefined}
          />
          <PasswordField
            label={t("password")}
            name="password"
            autoComplete="current-password"
            error={missing.password ? t("need-password") : undefined}
          />
          {isWaiting && (
            <Notice tone="warn">
              <span role="timer">{t("try-in", { count: wait })}</span>
            </Notice>
          )}
          {problem && (
            <Notice tone="bad" isAlert>
              {problem.status === 401 ? t("wrong") : problem.title}
            </Notice>
          )}
          <Button type="submit" tone="accent" size="lg" isBusy={isBusy} disabled={isWaiting}>
            {t("log-in")}
          </Button>
        </form>
      </Card>
      <Forgot />
    </div>
  );
}

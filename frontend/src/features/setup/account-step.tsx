import { type FormEvent, useEffect, useRef, useState } from "react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@/components/ui/button";
import { Code } from "@/components/ui/code";
import { Notice } from "@/components/ui/notice";
import { SwitchField } from "@/components/ui/switch-field";
import { PasswordField, TextField } from "@/components/ui/text-field";
import { api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { Rich } from "@/lib/i18n/rich";
import { sessionQuery, setupQuery } from "@/lib/session";
import { t } from "./en";

const shortest = 8;

const names = ["user", "password", "code"] as const;

type Errors = Partial<Record<(typeof names)[number], string>>;

/** Creates the first login. It asks for the setup code unless the link from the log contains it. */
export function AccountStep({ code, onDone }: { code: string; onDone: () => void }) {
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<Errors>({});
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [endsKeys, setEndsKeys] = useState(false);
  const setup = useQuery(setupQuery);
  // A link may be old, so the code is asked for after it was refused.
  const [isCodeAsked, setCodeAsked] = useState(code === "");

  // After the update, because the field for the code may appear with it.
  useEffect(() => {
    const first = names.find((name) => errors[name]);
    if (first) form.current?.querySelector<HTMLInputElement>(`[name=${first}]`)?.focus();
  }, [errors]);

  function show(wrong: Errors) {
    setErrors(wrong);
    return names.every((name) => !wrong[name]);
  }

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const text = (name: string) => String(values.get(name) ?? "");
    const body = { user: text("user").trim(), password: text("password"), code: isCodeAsked ? text("code").trim() : code };
    setProblem(null);
    const isRight = show({
      ...(body.user === "" ? { user: t("need-user") } : {}),
      ...(body.password.length < shortest ? { password: t("short-password") } : {}),
      ...(body.code === "" ? { code: t("need-code") } : {}),
    });
    if (!isRight) return;
    setBusy(true);
    try {
      const session = await dataOf(api.POST("/api/setup", { body: { ...body, origin: location.origin, endKeys: endsKeys } }));
      client.setQueryData(sessionQuery.queryKey, session);
      client.setQueryData(setupQuery.queryKey, { complete: true, step: session.setup, needsCode: false });
      onDone();
    } catch (error) {
      const refused = ApiProblem.from(error);
      const fields = { user: refused.field("user"), password: refused.field("password"), code: refused.field("code") };
      const wrong = Object.fromEntries(Object.entries(fields).filter(([, sentence]) => sentence !== undefined));
      if (wrong.code) setCodeAsked(true);
      show(wrong);
      if (Object.keys(wrong).length === 0) setProblem(refused);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form ref={form} noValidate onSubmit={(event) => void submit(event)} className="grid gap-4">
      <TextField
        label={t("user")}
        name="user"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        defaultValue="admin"
        error={errors.user}
      />
      <PasswordField label={t("password")} name="password" autoComplete="new-password" autoFocus help={t("password-help")} error={errors.password} />
      {isCodeAsked && (
        <TextField
          label={t("code")}
          name="code"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          defaultValue={code}
          error={errors.code}
          help={<Rich text={t("code-help")} marks={{ code: (inner) => <Code>{inner}</Code> }} />}
        />
      )}
      {setup.data?.hasKeys && <SwitchField label={t("end-keys")} help={t("end-keys-help")} isOn={endsKeys} onChange={setEndsKeys} />}
      {problem && (
        <Notice tone="bad" isAlert>
          {problem.title}
        </Notice>
      )}
      <Button type="submit" tone="accent" size="lg" isBusy={isBusy} className="justify-self-end">
        {t("continue")}
      </Button>
    </form>
  );
}

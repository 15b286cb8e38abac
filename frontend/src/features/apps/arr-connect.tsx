import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import * as z from "zod/mini";
import { Button } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { Notice } from "@/components/ui/notice";
import { SelectField } from "@/components/ui/select-field";
import { PasswordField, TextField } from "@/components/ui/text-field";
import { ApiProblem } from "@/lib/api-problem";
import { type ArrConnected, type ArrInstance, arrQuery, connectArr, planArr, testArr } from "./api/apps";
import { ArrPlanNotice } from "./arr-plan";
import { t } from "./en";
import { PathResult } from "./path-result";
import { type ArrProgram, programs, usualAddress } from "./programs";

interface ArrConnectProps {
  kind: ArrProgram;
  categories: readonly string[];
  /** The program if it is already connected; then its key need not be typed again. */
  saved?: ArrInstance | undefined;
}

type Errors = { url?: string | undefined; key?: string | undefined; category?: string | undefined };

/** A form for address and key of a program. It connects Sluice as its download client, and first shows what changes there. */
export function ArrConnect({ kind, categories, saved }: ArrConnectProps) {
  const client = useQueryClient();
  const { name } = programs[kind];
  const [url, setUrl] = useState(saved?.url ?? "");
  const [key, setKey] = useState("");
  const [category, setCategory] = useState(saved?.category ?? "");
  const [errors, setErrors] = useState<Errors>({});
  const onError = (error: Error) => {
    const problem = ApiProblem.from(error);
    setErrors({ url: problem.field("url"), key: problem.field("key"), category: problem.field("category") });
  };
  const request = () => ({ kind, url: url.trim(), key: key.trim() || null, category: category || null });
  const connect = useMutation({
    mutationFn: (agreed: string | null) => connectArr({ ...request(), agreed }),
    onError,
    onSettled: () => client.invalidateQueries({ queryKey: arrQuery.queryKey }),
  });
  const plan = useMutation({
    mutationFn: () => planArr(request()),
    onError,
    onSuccess: (made) => {
      if (made.token === null) connect.mutate(null);
    },
  });
  const asked = plan.data?.token != null && !connect.isSuccess ? plan.data : undefined;
  const test = useMutation({ mutationFn: () => testArr(request()), onError, onSettled: () => client.invalidateQueries({ queryKey: arrQuery.queryKey }) });

  function isRight(): boolean {
    const isSaved = saved !== undefined && saved.url.replace(/\/$/, "") === url.trim().replace(/\/$/, "");
    const schema = z.object({
      url: z.string().check(
        z.refine((text) => text !== "", { error: t("need-url", { name }), abort: true }),
        z.refine((text) => /^https?:\/\/[^\s]+$/i.test(text), { error: t("bad-url") }),
      ),
      key: z.string().check(
        z.refine((text) => text !== "" || isSaved, { error: t("need-key") }),
        z.refine((text) => /^[a-z0-9]*$/i.test(text), { error: t("bad-key") }),
      ),
    });
    const wrong: Errors = {};
    for (const issue of schema.safeParse({ url: url.trim(), key: key.trim() }).error?.issues ?? []) wrong[issue.path[0] as keyof Errors] ??= issue.message;
    setErrors(wrong);
    return Object.keys(wrong).length === 0;
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    test.reset();
    connect.reset();
    if (isRight()) plan.mutate();
  }

  const failed = connect.error ?? plan.error ?? test.error;
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label={t("url", { name })}
          type="url"
          autoComplete="off"
          placeholder={usualAddress(kind)}
          value={url}
          error={errors.url}
          help={t("url-help", { example: usualAddress(kind) })}
          onChange={(event) => setUrl(event.target.value)}
        />
        <PasswordField
          label={t("key", { name })}
          autoComplete="off"
          value={key}
          error={errors.key}
          help={t("key-help", { name })}
          onChange={(event) => setKey(event.target.value)}
        />
      </div>
      {saved && (
        <SelectField
          label={t("category")}
          value={category}
          error={errors.category}
          options={[{ value: "", label: t("category-usual") }, ...categories.map((value) => ({ value, label: value }))]}
          onChange={setCategory}
        />
      )}
      {failed && (
        <Notice tone="bad" isAlert>
          {ApiProblem.from(failed).title}
        </Notice>
      )}
      {test.data && <Notice tone="ok">{t("test-ok", { instance: test.data.instanceName, version: test.data.version })}</Notice>}
      {asked && <ArrPlanNotice plan={asked} name={name} isBusy={connect.isPending} onAgree={(agreed) => connect.mutate(agreed)} onCancel={() => plan.reset()} />}
      {connect.data && <Connected connected={connect.data} name={name} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button
          isBusy={test.isPending}
          onClick={() => {
            connect.reset();
            plan.reset();
            if (isRight()) test.mutate();
          }}
        >
          {t("test")}
        </Button>
        <Button type="submit" tone="accent" isBusy={plan.isPending || connect.isPending}>
          {t("connect", { name })}
        </Button>
      </div>
    </form>
  );
}

function Connected({ connected, name }: { connected: ArrConnected; name: string }) {
  return (
    <div role="status" className="grid gap-3">
      <Notice tone="ok">{t(connected.created ? "connect-new" : "connect-again", { name, address: connected.address })}</Notice>
      {connected.tried.length > 1 && (
        <div className="grid gap-1">
          <p className="text-sm text-muted">{t("tried", { name })}</p>
          <ul className="grid gap-1 text-sm">
            {connected.tried.map((attempt) => (
              <li key={attempt.address} className="flex items-start gap-2">
                <Icon of={attempt.ok ? Check : X} className={attempt.ok ? "mt-0.5 text-ok" : "mt-0.5 text-bad"} />
                <span className="min-w-0 wrap-anywhere">
                  <span className="font-medium">{attempt.address}</span> · {attempt.ok ? t("tried-ok") : attempt.cause}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <PathResult path={connected.path} name={name} />
    </div>
  );
}

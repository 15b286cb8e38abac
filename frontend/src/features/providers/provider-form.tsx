import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { ApiProblem } from "@/lib/api-problem";
import { type ProviderRow, providersQuery, saveProvider } from "./api/providers";
import { t } from "./en";
import { type DraftErrors, type ProviderDraft, draftOf, errorsOf, saveOf, tlsPort } from "./provider-draft";
import { ProviderFields, tlsChange } from "./provider-fields";
import { type TestAction, TestWalk } from "./test-walk";
import { useProviderTest } from "./use-provider-test";

interface ProviderFormProps {
  /** Null for a new provider. */
  row: ProviderRow | null;
  /** Shows a single button that tests, saves and continues, for the setup. */
  isStep?: boolean;
  /** Additional buttons. */
  extra?: ReactNode;
  onSaved: (row: ProviderRow, connections: number | null, bytesPerSecond: number | null) => void;
}

/** A form that edits, tests and saves a provider. */
export function ProviderForm({ row, isStep = false, extra, onSaved }: ProviderFormProps) {
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(() => draftOf(row));
  const [errors, setErrors] = useState<DraftErrors>({});
  const [isMoreOpen, setMoreOpen] = useState(row !== null);
  const [wanted, setWanted] = useState<{ name: string } | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const test = useProviderTest();
  const isSpeeding = test.steps.some((step) => step.stage === "speed" && step.state === "running");
  const found = !isStep && !test.isRunning ? (test.outcome?.connections ?? null) : null;

  // After the update, because folded fields open with it.
  useEffect(() => {
    if (wanted) form.current?.querySelector<HTMLElement>(`[name="${wanted.name}"]`)?.focus();
  }, [wanted]);

  function change(part: Partial<ProviderDraft>) {
    setDraft((before) => ({ ...before, ...part }));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([name]) => !(name in part))));
  }

  function focus(name: string) {
    const isHidden = name !== "host" && name !== "user" && name !== "password";
    if (isHidden) setMoreOpen(true);
    setWanted({ name });
  }

  function isRight(): boolean {
    const wrong = errorsOf(draft, row);
    setErrors(wrong);
    const first = Object.keys(wrong)[0];
    if (first) focus(first);
    return !first;
  }

  async function runTest(now = draft) {
    const { host, port, tls, user, password, skipsCertificateCheck, maxConnections } = saveOf(now);
    const most = row ? maxConnections : null;
    return test.run({ id: row?.id ?? null, host, port, tls, user, password, skipsCertificateCheck, maxConnections: most });
  }

  async function save(connections: number | null, bytesPerSecond: number | null) {
    setSaving(true);
    setProblem(null);
    try {
      const body = saveOf(draft, row);
      const saved = await saveProvider(row?.id ?? null, { ...body, maxConnections: connections ?? body.maxConnections });
      await client.invalidateQueries({ queryKey: providersQuery.queryKey });
      onSaved(saved, connections, bytesPerSecond);
    } catch (error) {
      const refused = ApiProblem.from(error);
      const wrong = Object.fromEntries(Object.entries(refused.errors).map(([name, sentences]) => [name, sentences[0]])) as DraftErrors;
      setErrors(wrong);
      setProblem(refused);
      const first = Object.keys(wrong)[0];
      if (first && first in draft) focus(first);
    } finally {
      setSaving(false);
    }
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (test.isRunning || !isRight()) return;
    if (!isStep) return save(null, null);
    const outcome = await runTest();
    if (outcome?.ok) await save(outcome.connections, outcome.bytesPerSecond);
  }

  function act(action: TestAction) {
    if (action === "again") return void (isStep ? form.current?.requestSubmit() : isRight() && runTest());
    if (action === "tls-port") change({ tls: true, port: String(tlsPort) });
    if (action === "tls-on") change(tlsChange(draft, true));
    const place = { host: "host", port: "port", "tls-port": "port", "tls-on": "tls", certificate: "skipsCertificateCheck", login: "user", password: "password" };
    focus(place[action]);
  }

  return (
    <form ref={form} noValidate onSubmit={(event) => void submit(event)} className="grid gap-5">
      <ProviderFields
        draft={draft}
        errors={errors}
        hasPassword={row?.hasPassword ?? false}
        isMoreOpen={isMoreOpen}
        onMore={setMoreOpen}
        onChange={change}
      />
      <TestWalk test={test} hasTls={draft.tls} onAction={act} />
      {problem && (
        <Notice tone="bad" isAlert>
          {problem.title}
        </Notice>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2">
        {extra}
        {test.isRunning && (
          <Button onClick={test.stop}>{isSpeeding ? t("skip-speed") : t("stop-test")}</Button>
        )}
        {!isStep && !test.isRunning && (
          <Button onClick={() => isRight() && void runTest()}>{test.steps.length > 0 ? t("test-again") : t("test")}</Button>
        )}
        {found !== null && found !== draft.maxConnections && (
          <Button onClick={() => change({ maxConnections: found })}>{t("use-found", { count: found })}</Button>
        )}
        <Button type="submit" tone="accent" size={isStep ? "lg" : "md"} isBusy={isSaving || (isStep && test.isRunning)}>
          {isStep ? t("test-and-continue") : t("save")}
        </Button>
      </div>
    </form>
  );
}

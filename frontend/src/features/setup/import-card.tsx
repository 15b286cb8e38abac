import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Button } from "@/components/ui/button";
import { Code } from "@/components/ui/code";
import { Disclosure } from "@/components/ui/disclosure";
import { Notice } from "@/components/ui/notice";
import { Progress } from "@/components/ui/progress";
import { ApiProblem } from "@/lib/api-problem";
import { formatNumber } from "@/lib/format";
import { Rich } from "@/lib/i18n/rich";
import { type FamilyImport, beginImport, importQuery } from "./api/import";
import { t } from "./import-en";

const code = { code: (inner: string) => <Code>{inner}</Code> };

/** Offers to import an earlier installation, and lists what is skipped and why. Renders nothing if the data folder has none. */
export function ImportCard() {
  const client = useQueryClient();
  const { data: found, error, refetch } = useQuery(importQuery);
  const begin = useMutation({
    mutationFn: beginImport,
    onSuccess: (now) => client.setQueryData(importQuery.queryKey, now),
    onError: () => void refetch(),
  });
  const state = found?.state;
  useEffect(() => {
    // The import has replaced providers, settings and lists.
    if (state === "finished") void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] !== importQuery.queryKey[1] });
  }, [state, client]);

  if (error) return <Notice tone="warn">{t("load-failed", { reason: ApiProblem.from(error).title })}</Notice>;
  if (!found || found.state === "none") return null;
  const problem = begin.error && ApiProblem.from(begin.error);
  return (
    <section aria-labelledby="import-title" className="grid gap-4 rounded-lg border border-line bg-raised p-4">
      <header className="grid gap-1">
        <h3 id="import-title" className="text-lg font-semibold">
          {t(`title-${found.state}`)}
        </h3>
        <p role="status" className="text-muted text-pretty wrap-anywhere">
          {found.state === "failed" ? found.error : <Rich text={t(found.state, { source: found.source ?? "" })} marks={code} />}
        </p>
      </header>
      {found.state === "looking" && <Progress label={t("title-looking")} percent={null} />}
      {found.state === "running" && <Progress label={t("progress")} percent={100 * found.progress} />}
      {found.counts.length > 0 && <Counts counts={found.counts} isRunning={found.state === "running"} />}
      <Details found={found} />
      {problem && (
        <Notice tone="bad" isAlert>
          {problem.title}
        </Notice>
      )}
      {(found.state === "found" || found.state === "failed") && (
        <Button tone="accent" className="w-fit justify-self-end" isBusy={begin.isPending} onClick={() => begin.mutate()}>
          {found.state === "found" ? t("import") : t("try-again")}
        </Button>
      )}
    </section>
  );
}

function Counts({ counts, isRunning }: { counts: FamilyImport["counts"]; isRunning: boolean }) {
  return (
    <table className="w-full tabular-nums">
      <thead className="text-sm text-muted">
        <tr>
          <th scope="col" className="py-1 text-start font-medium">
            {t("kind")}
          </th>
          <th scope="col" className="py-1 text-end font-medium">
            {t("taken")}
          </th>
          <th scope="col" className="w-24 py-1 text-end font-medium">
            {t("left")}
          </th>
        </tr>
      </thead>
      <tbody>
        {counts.map(({ kind, found, taken, left }) => (
          <tr key={kind} className="border-t border-line">
            <td className="py-1.5">{t(`kind-${kind}`)}</td>
            <td className="py-1.5 text-end">{isRunning ? t("taken-of", { taken: formatNumber(taken), found: formatNumber(found) }) : formatNumber(taken)}</td>
            <td className={left > 0 ? "py-1.5 text-end text-warn" : "py-1.5 text-end text-muted"}>{formatNumber(left)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Details({ found: { left, leftTotal, notes, notesTotal, kept } }: { found: FamilyImport }) {
  return (
    <div className="grid gap-1 empty:hidden">
      {leftTotal > 0 && (
        <Fold title={t("left-title", { count: leftTotal })} more={leftTotal - left.length}>
          {left.map(({ kind, name, reason }, at) => (
            <li key={at}>
              <span className="font-medium">{name || kind}</span>
              <span className="block text-muted">{reason}</span>
            </li>
          ))}
        </Fold>
      )}
      {notesTotal > 0 && (
        <Fold title={t("notes-title", { count: notesTotal })} more={notesTotal - notes.length}>
          {notes.map((note, at) => (
            <li key={at}>{note}</li>
          ))}
        </Fold>
      )}
      {kept.length > 0 && (
        <Fold title={t("kept-title", { count: kept.length })} more={0}>
          {kept.map((key) => (
            <li key={key}>
              <code className="font-mono">{key}</code>
            </li>
          ))}
        </Fold>
      )}
    </div>
  );
}

/** A list that opens, and scrolls if it is long. */
function Fold({ title, more, children }: { title: string; more: number; children: ReactNode }) {
  return (
    <Disclosure title={title}>
      <div role="region" aria-label={title} tabIndex={0} className="max-h-72 overflow-y-auto rounded-md bg-sunken px-3 py-2 text-sm wrap-anywhere">
        <ul className="grid gap-2">{children}</ul>
        {more > 0 && <p className="mt-2 text-muted">{t("left-more", { count: more })}</p>}
      </div>
    </Disclosure>
  );
}

import { useQuery } from "@tanstack/react-query";
import { ChevronDown, CircleCheck, CircleX, Download, FolderOpen, RotateCcw, ScrollText, Trash2, TriangleAlert } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import { Badge } from "@/components/ui/badge";
import { Button, ButtonLink, IconButton } from "@/components/ui/button";
import { Sheet } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { KeyValues } from "@/components/ui/key-values";
import { LoadFailure } from "@/components/ui/load-failure";
import { Menu } from "@/components/ui/menu";
import type { MenuItem } from "@/components/ui/menu-item";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { PasswordField } from "@/components/ui/text-field";
import { Timeline } from "@/components/ui/timeline";
import { ApiProblem } from "@/lib/api-problem";
import { categoryName } from "@/lib/category";
import { formatBytes, formatDateTime, formatDuration, formatPercent } from "@/lib/format";
import { timelineOf } from "@/lib/steps";
import { t } from "../en";
import { type HistoryDetail, filesPath, historyQuery, removeItems, retryItem, saveNzb } from "../api/history";
import { explain } from "../api/reasons";
import { otherTryItems } from "./other-tries";

/** The details of an ended import: result, advice, steps and files. */
export function HistorySheet({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery(historyQuery(id));
  const problem = error ? ApiProblem.from(error) : null;
  return (
    <Sheet isOpen onClose={onClose} size="md" title={data?.item.name ?? t("details")}>
      {problem?.status === 404 ? (
        <EmptyState title={t("gone")} actions={<ButtonLink to="/queue">{t("to-queue")}</ButtonLink>}>
          {t("gone-help")}
        </EmptyState>
      ) : problem ? (
        <LoadFailure problem={problem} onRetry={() => void refetch()} />
      ) : data ? (
        <Details detail={data} onClose={onClose} />
      ) : (
        <SkeletonRows />
      )}
    </Sheet>
  );
}

function Details({ detail, onClose }: { detail: HistoryDetail; onClose: () => void }) {
  const { item } = detail;
  const isGood = item.result === "completed";
  const share = item.missingShare;
  const waited = new Date(detail.startedAt).getTime() - new Date(detail.addedAt).getTime();
  return (
    <div className="grid gap-6 wrap-anywhere">
      {item.reason ? <Failure detail={detail} onDone={onClose} /> : null}
      {share !== null && (
        <Notice tone="warn">
          <p>{t("with-gaps-help", { percent: formatPercent(100 * share, share < 0.1 ? 1 : 0) })}</p>
          <p className="text-sm text-muted">{t("with-gaps-action")}</p>
        </Notice>
      )}
      <KeyValues
        items={[
          { label: t("result"), value: <Badge tone={share !== null ? "warn" : isGood ? "ok" : "bad"} icon={share !== null ? TriangleAlert : isGood ? CircleCheck : CircleX}>{t(share !== null ? "with-gaps" : `result-${item.result}`)}</Badge> },
          { label: t("category"), value: categoryName(item.category) },
          { label: t("size"), value: item.bytes > 0 ? formatBytes(item.bytes) : null },
          { label: t("added"), value: formatDateTime(detail.addedAt) },
          { label: t("waited"), value: waited >= 1_000 ? formatDuration(waited) : null },
          { label: t("took"), value: formatDuration(item.durationMs) },
          { label: t("ended"), value: formatDateTime(item.completedAt) },
        ]}
      />
      {isGood && <Files detail={detail} />}
      <Part title={t("steps")}>
        <Timeline
          label={t("steps")}
          steps={timelineOf(detail.steps)}
        />
      </Part>
      <div className="flex flex-wrap gap-2">
        {detail.hasNzb && (
          <Button icon={Download} onClick={() => saveNzb(item.id)}>
            {t("nzb")}
          </Button>
        )}
        <ButtonLink icon={ScrollText} to={`/logs?job=${encodeURIComponent(item.id)}`}>
          {t("logs")}
        </ButtonLink>
        <Button
          icon={Trash2}
          className="ms-auto text-bad"
          onClick={() => {
            onClose();
            void removeItems({ ids: [item.id] });
          }}
        >
          {t("remove")}
        </Button>
      </div>
    </div>
  );
}

/** The reason of a failure in a sentence, its cause, and advice with buttons. */
function Failure({ detail, onDone }: { detail: HistoryDetail; onDone: () => void }) {
  const row = detail.item;
  const navigate = useNavigate();
  const [password, setPassword] = useState("");
  const [isBusy, setBusy] = useState(false);
  if (row.reason === null) return null;
  const { title, cause, action, ways } = explain(row.reason);
  const isPassword = ways.includes("password");

  const showQueue = () => void navigate("/queue");
  const otherTries = otherTryItems(row, detail.steps.find((step) => step.state === "failed")?.step, showQueue, onDone);

  async function retry(event?: FormEvent) {
    event?.preventDefault();
    setBusy(true);
    const isBack = await retryItem(row, { password }, showQueue);
    setBusy(false);
    if (isBack) onDone();
  }

  const retryButton = (
    <Button type={isPassword ? "submit" : "button"} tone="accent" icon={RotateCcw} isBusy={isBusy} {...(isPassword ? {} : { onClick: () => void retry() })}>
      {isPassword && password !== "" ? t("retry-with") : t("retry")}
    </Button>
  );
  return (
    <section className="grid gap-4 rounded-lg border border-line bg-sunken p-4">
      <div className="grid gap-1">
        <h3 className="flex items-center gap-2 font-semibold text-bad">{title}</h3>
        {row.sentence && <p className="font-medium wrap-anywhere">{row.sentence}</p>}
        <p className="text-muted">{cause}</p>
      </div>
      <div className="grid gap-2.5">
        <h4 className="font-semibold">{t("what-to-do")}</h4>
        <p>{action}</p>
        {isPassword && row.canRetry && (
          <form className="grid gap-2.5" onSubmit={(event) => void retry(event)}>
            <PasswordField label={t("password")} value={password} autoComplete="off" onChange={(event) => setPassword(event.target.value)} />
            <span>{retryButton}</span>
          </form>
        )}
        <div className="flex flex-wrap gap-2 empty:hidden">
          {ways.map((way) => {
            if (way === "password") return null;
            if (way === "retry") {
              return (
                row.canRetry && (
                  <span key={way} className="flex gap-px">
                    {retryButton}
                    {otherTries.length > 0 && <OtherTries items={otherTries} />}
                  </span>
                )
              );
            }
            return (
              <ButtonLink key={way} to={way === "queue" ? "/queue" : way === "logs" ? `/logs?job=${encodeURIComponent(row.id)}` : `/settings/${way}`}>
                {t(`go-${way}`)}
              </ButtonLink>
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** The ways to retry besides the plain one. */
function OtherTries({ items }: { items: readonly MenuItem[] }) {
  return (
    <Menu
      label={t("retry-other")}
      items={items}
      align="start"
      trigger={(wiring) => <IconButton icon={ChevronDown} tone="accent" label={t("retry-other")} {...wiring} />}
    />
  );
}

function Files({ detail }: { detail: HistoryDetail }) {
  const { item, files, fileCount } = detail;
  const more = fileCount - files.length;
  if (item.path === null) return <p className="text-muted">{t("files-gone")}</p>;
  const folder = filesPath(item.path);
  return (
    <Part title={t("files")}>
      <ul className="grid">
        {files.map((file) => (
          <li key={file.id} className="flex items-baseline justify-between gap-3 border-b border-line py-1.5 last:border-0">
            <Link to={`${folder}?file=${encodeURIComponent(file.id)}`} className="min-h-6 min-w-0 wrap-anywhere text-accent hover:underline touch:py-2.75">
              {file.path}
            </Link>
            <span className="shrink-0 text-sm text-muted tabular-nums">{formatBytes(file.bytes)}</span>
          </li>
        ))}
        {more > 0 && <li className="pt-1.5 text-sm text-muted">{t("more-files", { count: more })}</li>}
      </ul>
      <span>
        <ButtonLink tone="accent" icon={FolderOpen} to={folder}>
          {t("open-files")}
        </ButtonLink>
      </span>
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid gap-3">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}

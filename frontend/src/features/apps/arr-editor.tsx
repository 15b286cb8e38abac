import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { FolderSearch, Gauge, Link2, Plug, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Code } from "@/components/ui/code";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { Menu } from "@/components/ui/menu";
import { Notice } from "@/components/ui/notice";
import { SelectField } from "@/components/ui/select-field";
import { SkeletonRows } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { formatAgo } from "@/lib/format";
import { Rich } from "@/lib/i18n/rich";
import { toast } from "@/lib/toast";
import { type ArrInstance, accessQuery, arrQuery, checkPath, removeArr, testArr } from "./api/apps";
import { ArrConnect } from "./arr-connect";
import { t } from "./en";
import { PathResult } from "./path-result";
import { type ArrProgram, programs } from "./programs";

const tones = { unchecked: "neutral", ok: "ok", failed: "bad" } as const;

/** The programs that Sluice is connected to: connect, test, check the path, remove. */
export function ArrEditor() {
  const arr = useQuery(arrQuery);
  const access = useQuery(accessQuery);
  const [open, setOpen] = useState<ArrInstance | "new" | null>(null);
  const [removed, setRemoved] = useState<ArrInstance | null>(null);
  const [kind, setKind] = useState<ArrProgram>("sonarr");
  const rows = arr.data?.items ?? [];
  const locked = arr.data?.locked ?? null;
  const saved = open === "new" || open === null ? undefined : open;
  const shownKind = saved?.kind ?? kind;
  return (
    <Card
      title={t("instances")}
      actions={
        locked === null && rows.length > 0 && (
          <Button size="sm" icon={Plus} onClick={() => setOpen("new")}>
            {t("add")}
          </Button>
        )
      }
    >
      <p className="mb-3 text-sm text-muted">{t("instances-help")}</p>
      {locked !== null && (
        <Notice>
          <Rich text={t("locked", { variable: locked })} marks={{ code: (inner) => <Code>{inner}</Code> }} />
        </Notice>
      )}
      {arr.isPending && <SkeletonRows rows={2} />}
      {arr.error && (
        <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => void arr.refetch()}>{t("try-again")}</Button>}>
          {t("list-failed", { reason: ApiProblem.from(arr.error).title })}
        </Notice>
      )}
      {arr.data && rows.length === 0 && (
        <EmptyState icon={Plug} title={t("none-title")} actions={locked === null && <Button tone="accent" icon={Plus} onClick={() => setOpen("new")}>{t("add")}</Button>}>
          {t("none-body")}
        </EmptyState>
      )}
      <ul className="grid gap-2">
        {rows.map((row) => (
          <Row key={row.id} row={row} isLocked={locked !== null} onConnect={() => setOpen(row)} onRemove={() => setRemoved(row)} />
        ))}
      </ul>
      <Dialog isOpen={open !== null} onClose={() => setOpen(null)} title={saved ? t("connect-anew") : t("add")}>
        <div className="grid gap-4">
          {!saved && (
            <SelectField
              label={t("kind")}
              value={kind}
              options={(Object.keys(programs) as ArrProgram[]).map((value) => ({ value, label: programs[value].name }))}
              onChange={setKind}
            />
          )}
          <ArrConnect key={shownKind} kind={shownKind} categories={access.data?.categories ?? []} saved={saved} />
        </div>
      </Dialog>
      <RemoveDialog row={removed} onClose={() => setRemoved(null)} />
    </Card>
  );
}

function Row({ row, isLocked, onConnect, onRemove }: { row: ArrInstance; isLocked: boolean; onConnect: () => void; onRemove: () => void }) {
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: arrQuery.queryKey });
  const test = useMutation({ mutationFn: () => testArr({ kind: row.kind, url: row.url, category: row.category }), onSettled });
  const path = useMutation({ mutationFn: () => checkPath(row.id), onSettled });
  const failed = test.error ?? path.error;
  const items = [
    { label: t("connect-anew"), icon: Link2, onSelect: onConnect },
    { label: t("remove"), icon: Trash2, tone: "danger" as const, startsGroup: true, onSelect: onRemove },
  ];
  return (
    <li className="grid gap-3 rounded-lg border border-line bg-raised px-3.5 py-3">
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <span className="font-semibold wrap-anywhere">{row.name}</span>
            <Badge tone={tones[row.state]}>{t(`state.${row.state}`)}</Badge>
          </p>
          <p className="text-sm text-muted wrap-anywhere">
            {[row.url, row.category, row.lastCheck && t("checked-ago", { ago: formatAgo(row.lastCheck) })].filter(Boolean).join(" · ")}
          </p>
          {row.sentence && <p className="mt-1 text-sm text-bad wrap-anywhere">{row.sentence}</p>}
        </div>
        {!isLocked && <Menu label={t("actions-for", { name: row.name })} items={items} />}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button
          size="sm"
          icon={Gauge}
          isBusy={test.isPending}
          onClick={() => {
            path.reset();
            test.mutate();
          }}
        >
          {t("test")}
        </Button>
        <Button
          size="sm"
          icon={FolderSearch}
          isBusy={path.isPending}
          onClick={() => {
            test.reset();
            path.mutate();
          }}
        >
          {t("check-path")}
        </Button>
      </div>
      <div aria-live="polite" className="grid gap-3 empty:hidden">
        {failed && <Notice tone="bad">{ApiProblem.from(failed).title}</Notice>}
        {test.data && <Notice tone="ok">{t("test-ok", { instance: test.data.instanceName, version: test.data.version })}</Notice>}
        {path.data && <PathResult path={path.data} name={row.name} />}
      </div>
    </li>
  );
}

function RemoveDialog({ row, onClose }: { row: ArrInstance | null; onClose: () => void }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (id: string) => removeArr(id),
    onSuccess: () => {
      toast({ title: t("removed", { name: row?.name ?? "" }) });
      onClose();
    },
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
    onSettled: () => client.invalidateQueries({ queryKey: arrQuery.queryKey }),
  });
  return (
    <Dialog
      isOpen={row !== null}
      onClose={onClose}
      size="sm"
      title={t("remove-title", { name: row?.name ?? "" })}
      description={t("remove-body", { name: row?.name ?? "" })}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button tone="danger" isBusy={remove.isPending} onClick={() => row && remove.mutate(row.id)}>
            {t("remove")}
          </Button>
        </>
      }
    />
  );
}

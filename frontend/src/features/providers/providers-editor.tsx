import { Fuel, Gauge, Pencil, Plus, RotateCcw, Server, Trash2 } from "lucide-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Code } from "@/components/ui/code";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { Menu } from "@/components/ui/menu";
import type { MenuItem } from "@/components/ui/menu-item";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { Rich } from "@/lib/i18n/rich";
import { toast } from "@/lib/toast";
import { type ProviderRow, providersQuery, removeProvider, resetProvider, useProviders } from "./api/providers";
import { t } from "./en";
import { ProviderForm } from "./provider-form";
import { RefillDialog, StartOverDialog } from "./quota-dialogs";
import { QuotaMeter } from "./quota-meter";

const tones = { ok: "ok", resting: "warn", refused: "bad", disabled: "neutral" } as const;

/** The providers on the settings page: list, form, test. */
export function ProvidersEditor() {
  const providers = useProviders();
  const [edited, setEdited] = useState<ProviderRow | "new" | null>(null);
  const [removed, setRemoved] = useState<ProviderRow | null>(null);
  const locked = providers.data?.locked ?? null;
  const rows = providers.data?.items ?? [];
  const row = edited === "new" ? null : edited;
  return (
    <Card
      title={t("providers")}
      actions={
        locked === null && rows.length > 0 && (
          <Button size="sm" icon={Plus} onClick={() => setEdited("new")}>
            {t("add")}
          </Button>
        )
      }
    >
      <p className="mb-3 text-sm text-muted">{t("providers-help")}</p>
      {locked !== null && (
        <Notice>
          <Rich text={t("locked", { variable: locked })} marks={{ code: (inner) => <Code>{inner}</Code> }} />
        </Notice>
      )}
      {providers.isPending && <SkeletonRows rows={2} />}
      {providers.error && (
        <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => void providers.refetch()}>{t("try-again")}</Button>}>
          {t("load-failed", { reason: ApiProblem.from(providers.error).title })}
        </Notice>
      )}
      {providers.data && rows.length === 0 && (
        <EmptyState icon={Server} title={t("none-title")} actions={locked === null && <Button tone="accent" icon={Plus} onClick={() => setEdited("new")}>{t("add")}</Button>}>
          {t("none-body")}
        </EmptyState>
      )}
      <ul className="grid gap-2">
        {rows.map((entry) => (
          <Row key={entry.id} row={entry} isLocked={locked !== null} onEdit={() => setEdited(entry)} onRemove={() => setRemoved(entry)} />
        ))}
      </ul>
      <Dialog
        isOpen={edited !== null}
        onClose={() => setEdited(null)}
        title={row ? t("edit-title", { name: row.name }) : t("add-title")}
      >
        <ProviderForm
          row={row}
          onSaved={(saved) => {
            setEdited(null);
            toast({ tone: "ok", title: t("saved", { name: saved.name }) });
          }}
        />
      </Dialog>
      <RemoveDialog row={removed} onClose={() => setRemoved(null)} />
    </Card>
  );
}

function Row({ row, isLocked, onEdit, onRemove }: { row: ProviderRow; isLocked: boolean; onEdit: () => void; onRemove: () => void }) {
  const client = useQueryClient();
  const [isRefilling, setRefilling] = useState(false);
  const [isStartingOver, setStartingOver] = useState(false);
  const { connecting, idle, busy, max, cap } = row.connections;
  const used = connecting + idle + busy;
  async function forget(what: "breaker" | "cap") {
    try {
      await resetProvider(row.id, what);
      await client.invalidateQueries({ queryKey: providersQuery.queryKey });
      toast({ tone: "ok", title: t("reset-done") });
    } catch (error) {
      toast({ tone: "bad", title: ApiProblem.from(error).title });
    }
  }
  const items: MenuItem[] = [
    ...(isLocked
      ? []
      : [
          { label: t("edit"), icon: Pencil, onSelect: onEdit },
          { label: t("test"), icon: Gauge, onSelect: onEdit },
        ]),
    ...(row.condition === "resting" || row.condition === "refused" ? [{ label: t("reset-breaker"), icon: RotateCcw, onSelect: () => void forget("breaker") }] : []),
    ...(cap === null ? [] : [{ label: t("reset-cap"), icon: RotateCcw, onSelect: () => void forget("cap") }]),
    ...(row.quota
      ? [
          { label: t("refill"), icon: Fuel, onSelect: () => setRefilling(true) },
          { label: t("start-over"), icon: RotateCcw, onSelect: () => setStartingOver(true) },
        ]
      : []),
    ...(isLocked ? [] : [{ label: t("remove"), icon: Trash2, tone: "danger" as const, startsGroup: true, onSelect: onRemove }]),
  ];
  return (
    <li className="flex items-start gap-3 rounded-lg border border-line bg-raised px-3.5 py-3">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-semibold wrap-anywhere">{row.name}</span>
          <Badge tone={tones[row.condition]}>{t(`condition.${row.condition}`)}</Badge>
          {row.use === "backup" && <Badge>{t("use.backup")}</Badge>}
        </p>
        <p className="text-sm text-muted wrap-anywhere">
          {`${row.host}:${row.port}`} · {cap !== null && cap < max ? t("connections-capped", { used, cap, max }) : t("connections", { used, max })}
        </p>
        {row.sentence && <p className="mt-1 text-sm text-bad wrap-anywhere">{row.sentence}</p>}
        {row.quota && <QuotaMeter quota={row.quota} name={row.name} />}
      </div>
      {!isLocked && <IconButton icon={Pencil} label={t("edit-title", { name: row.name })} onClick={onEdit} />}
      {items.length > 0 && <Menu label={t("actions-for", { name: row.name })} items={items} />}
      {row.quota && <RefillDialog row={row} isOpen={isRefilling} onClose={() => setRefilling(false)} />}
      {row.quota && <StartOverDialog row={row} isOpen={isStartingOver} onClose={() => setStartingOver(false)} />}
    </li>
  );
}

function RemoveDialog({ row, onClose }: { row: ProviderRow | null; onClose: () => void }) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  async function remove() {
    if (!row) return;
    setBusy(true);
    try {
      await removeProvider(row.id);
      await client.invalidateQueries({ queryKey: providersQuery.queryKey });
      toast({ title: t("removed", { name: row.name }) });
      onClose();
    } catch (error) {
      toast({ tone: "bad", title: ApiProblem.from(error).title });
    } finally {
      setBusy(false);
    }
  }
  return (
    <Dialog
      isOpen={row !== null}
      onClose={onClose}
      size="sm"
      title={t("remove-title", { name: row?.name ?? "" })}
      description={t("remove-body")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button tone="danger" isBusy={isBusy} onClick={() => void remove()}>
            {t("remove")}
          </Button>
        </>
      }
    />
  );
}

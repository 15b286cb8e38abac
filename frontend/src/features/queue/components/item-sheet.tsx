import { ArrowDown, ArrowDownToLine, ArrowUp, ArrowUpToLine, Pause, Play, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button, ButtonLink } from "@/components/ui/button";
import { Sheet } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { KeyValues } from "@/components/ui/key-values";
import { Notice } from "@/components/ui/notice";
import { SelectField } from "@/components/ui/select-field";
import { SkeletonRows } from "@/components/ui/skeleton";
import { PasswordField, TextField } from "@/components/ui/text-field";
import { Timeline } from "@/components/ui/timeline";
import { categoryName } from "@/lib/category";
import { formatBytes, formatDateTime, formatPercent } from "@/lib/format";
import { timelineOf } from "@/lib/steps";
import { toast } from "@/lib/toast";
import { t } from "../en";
import { type Priority, type QueueRow, changeItem, lastPlace, priorities, removeItems } from "../api/queue";

interface ItemSheetProps {
  id: string;
  /** The item; undefined if it is not in the queue. */
  row: QueueRow | undefined;
  isLoading: boolean;
  categories: readonly string[];
  onClose: () => void;
}

/** The details of an item of the queue: its steps and a form to change it. */
export function ItemSheet({ id, row, isLoading, categories, onClose }: ItemSheetProps) {
  return (
    <Sheet isOpen onClose={onClose} size="sm" title={row?.name ?? t("details")}>
      {row ? (
        <Details row={row} categories={categories} onClose={onClose} />
      ) : isLoading ? (
        <SkeletonRows />
      ) : (
        <EmptyState title={t("left-queue")} actions={<ButtonLink to={`/history/${id}`} tone="accent">{t("see-history")}</ButtonLink>}>
          {t("left-queue-help")}
        </EmptyState>
      )}
    </Sheet>
  );
}

function Details({ row, categories, onClose }: { row: QueueRow; categories: readonly string[]; onClose: () => void }) {
  const hasBegun = row.steps.some((step) => step.state !== "pending");
  const isPaused = row.state === "paused";
  const move = (change: { position: number } | { step: number }) => void changeItem(row.id, change);
  return (
    <div className="grid gap-6 wrap-anywhere">
      <KeyValues
        items={[
          {
            label: t("state"),
            value: <Badge tone={row.state === "waiting" ? "warn" : row.state === "running" ? "accent" : "neutral"}>{`${t(`state-${row.state}`)}${row.state === "running" ? ` · ${formatPercent(row.percent)}` : ""}`}</Badge>,
          },
          { label: t("size"), value: row.bytes > 0 ? formatBytes(row.bytes) : null },
          { label: t("post"), value: postOf(row) },
          { label: t("posted"), value: row.postedAt && formatDateTime(row.postedAt) },
          { label: t("added"), value: formatDateTime(row.addedAt) },
        ]}
      />
      {row.sentence && <Notice tone="warn">{row.sentence}</Notice>}
      <section className="grid gap-3">
        <h3 className="font-semibold">{t("steps")}</h3>
        {hasBegun ? <Timeline label={t("steps")} steps={timelineOf(row.steps)} /> : <p className="text-muted">{t("steps-waiting")}</p>}
      </section>
      <section className="grid gap-3">
        <h3 className="font-semibold">{t("move")}</h3>
        <div className="grid grid-cols-2 gap-2">
          <Button icon={ArrowUpToLine} onClick={() => move({ position: 0 })}>{t("to-top")}</Button>
          <Button icon={ArrowDownToLine} onClick={() => move({ position: lastPlace })}>{t("to-bottom")}</Button>
          <Button icon={ArrowUp} onClick={() => move({ step: -1 })}>{t("up")}</Button>
          <Button icon={ArrowDown} onClick={() => move({ step: 1 })}>{t("down")}</Button>
        </div>
      </section>
      <ChangeForm key={row.id} row={row} categories={categories} />
      <div className="flex flex-wrap justify-between gap-2">
        <Button icon={isPaused ? Play : Pause} onClick={() => void changeItem(row.id, { paused: !isPaused })}>
          {t(isPaused ? "resume" : "pause")}
        </Button>
        <Button
          icon={Trash2}
          className="text-bad"
          onClick={() => {
            onClose();
            void removeItems({ ids: [row.id] });
          }}
        >
          {t("remove")}
        </Button>
      </div>
    </div>
  );
}

/** Describes the files and segments of the post; null until the NZB is loaded. */
function postOf({ files, segments }: QueueRow): string | null {
  return files === null || segments === null ? null : `${t("post-files", { count: files })}, ${t("post-segments", { count: segments })}`;
}

/** A form for name, category, priority and password. It sends only changed values. */
function ChangeForm({ row, categories }: { row: QueueRow; categories: readonly string[] }) {
  const [name, setName] = useState<string | null>(null);
  const [category, setCategory] = useState<string | null>(null);
  const [priority, setPriority] = useState<Priority | null>(null);
  const [password, setPassword] = useState("");
  const [isBusy, setBusy] = useState(false);
  const names = [...new Set([...categories, row.category])];
  const change = {
    ...(name !== null && name !== row.name ? { name } : {}),
    ...(category !== null && category !== row.category ? { category } : {}),
    ...(priority !== null && priority !== row.priority ? { priority } : {}),
    ...(password !== "" ? { password } : {}),
  };
  const isChanged = Object.keys(change).length > 0;

  async function save(event: FormEvent) {
    event.preventDefault();
    if (!isChanged) return;
    setBusy(true);
    const changed = await changeItem(row.id, change);
    setBusy(false);
    if (!changed) return;
    setName(null);
    setCategory(null);
    setPriority(null);
    setPassword("");
    toast({ tone: "ok", title: t("saved") });
  }

  return (
    <form className="grid gap-3" onSubmit={(event) => void save(event)}>
      <TextField label={t("name")} value={name ?? row.name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
      <div className="grid grid-cols-2 gap-3">
        <SelectField
          label={t("category")}
          value={category ?? row.category}
          options={names.map((value) => ({ value, label: categoryName(value) }))}
          onChange={setCategory}
        />
        <SelectField
          label={t("priority")}
          value={priority ?? row.priority}
          options={priorities.map((value) => ({ value, label: t(`priority-${value}`) }))}
          onChange={setPriority}
        />
      </div>
      <PasswordField
        label={row.hasPassword ? t("new-password") : t("password")}
        isOptional
        value={password}
        autoComplete="off"
        {...(row.hasPassword ? { help: t("password-help") } : {})}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button type="submit" tone="accent" isBusy={isBusy} disabled={!isChanged} className="justify-self-end">
        {t("save")}
      </Button>
    </form>
  );
}

import { ChevronDown, Link2 } from "lucide-react";
import { type FormEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { DropZone } from "@/components/ui/drop-zone";
import { Icon } from "@/components/ui/icon";
import { SelectField } from "@/components/ui/select-field";
import { PasswordField, TextField } from "@/components/ui/text-field";
import { api, dataOf } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { cx } from "@/lib/cx";
import { useIsPhone } from "@/lib/media";
import { toast } from "@/lib/toast";
import { queueFiles } from "@/lib/upload-queue";
import { t } from "../en";
import { type Priority, priorities } from "../api/queue";

/** Adds NZBs: files and folders, an address, or anything pasted on the page. */
export function AddPanel({ categories }: { categories: readonly string[] }) {
  const [address, setAddress] = useState("");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [category, setCategory] = useState("");
  const [priority, setPriority] = useState<Priority | "">("");
  const [password, setPassword] = useState("");
  const isPhone = useIsPhone();
  const form = useRef<HTMLFormElement>(null);
  const optionsId = useId();

  const addFiles = (files: readonly File[]) => void queueFiles(files, t("not-an-nzb"), { category, priority, password });

  const paste = useEffectEvent((event: ClipboardEvent) => {
    const { target, clipboardData } = event;
    if (!clipboardData || (target instanceof Element && target.closest("input, textarea, select, [role=dialog]"))) return;
    const text = clipboardData.getData("text").trim();
    if (clipboardData.files.length > 0) addFiles([...clipboardData.files]);
    else if (/^https?:\/\/\S+$/.test(text)) {
      setAddress(text);
      form.current?.querySelector("input")?.focus();
    } else return;
    event.preventDefault();
  });
  useEffect(() => {
    const stop = new AbortController();
    window.addEventListener("paste", (event) => paste(event), { signal: stop.signal });
    return () => stop.abort();
  }, []);

  async function add(event: FormEvent) {
    event.preventDefault();
    const url = address.trim();
    if (url === "" || isBusy) return;
    setBusy(true);
    setError("");
    try {
      const body = { url, category: category || null, password: password || null, priority: priority || null };
      const { names } = await dataOf(api.POST("/api/queue/address", { body }));
      toast({ tone: "ok", title: t("added-address", { name: names[0] || url }), body: t("added-address-help") });
      setAddress("");
    } catch (thrown) {
      const problem = ApiProblem.from(thrown);
      setError(problem.field("url") ?? problem.title);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Card>
      <div className="grid gap-4 lg:grid-cols-2">
        <DropZone isCompact label={t("drop-label")} hint={t("drop-hint")} onFiles={addFiles} />
        <div className="grid gap-2">
          <form ref={form} noValidate className="flex items-start gap-2" onSubmit={(event) => void add(event)}>
            <TextField
              type="url"
              label={t("address")}
              isLabelHidden
              placeholder={`${t("address")}: ${t("address-hint")}`}
              value={address}
              onChange={(event) => setAddress(event.target.value)}
              {...(isPhone ? {} : { help: t("address-help") })}
              {...(error ? { error } : {})}
              autoComplete="off"
              className="min-w-0 flex-1"
            />
            <Button type="submit" icon={Link2} isBusy={isBusy} disabled={address.trim() === ""}>
              {t("add")}
            </Button>
          </form>
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={optionsId}
            onClick={() => setOpen(!isOpen)}
            className="inline-flex min-h-7 w-fit items-center gap-1.5 rounded-sm text-sm font-medium text-muted hover:text-ink touch:min-h-11"
          >
            <Icon of={ChevronDown} size={14} className={cx("transition-transform", isOpen && "rotate-180")} />
            {t("options")}
          </button>
        </div>
      </div>
      <div id={optionsId} hidden={!isOpen}>
        <div className="mt-3 grid gap-3 sm:grid-cols-3">
          <SelectField
            label={t("category")}
            value={category}
            options={[{ value: "", label: t("by-default") }, ...categories.map((name) => ({ value: name, label: name }))]}
            onChange={setCategory}
          />
          <PasswordField label={t("password")} isOptional value={password} autoComplete="off" onChange={(event) => setPassword(event.target.value)} />
          <SelectField
            label={t("priority")}
            value={priority}
            options={[{ value: "", label: t("by-default") }, ...priorities.map((word) => ({ value: word, label: t(`priority-${word}`) }))]}
            onChange={setPriority}
          />
        </div>
        <p className="mt-2 text-sm text-muted">{t("options-help")}</p>
      </div>
    </Card>
  );
}

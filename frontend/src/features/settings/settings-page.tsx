import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Search, SearchX } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { NavLink, useSearchParams } from "react-router";
import { Button } from "@/components/ui/button";
import { Dot } from "@/components/ui/badge";
import { EmptyState } from "@/components/ui/empty-state";
import { Icon } from "@/components/ui/icon";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { TextField } from "@/components/ui/text-field";
import { ApiProblem } from "@/lib/api-problem";
import { cx } from "@/lib/cx";
import { useTopic } from "@/lib/events";
import { sessionQuery } from "@/lib/session";
import { AccountCard } from "./account-card";
import { BackupsCard } from "./backups-card";
import { type SettingField, type SettingValue, schemaQuery, setsQuery, valuesQuery } from "./api/settings";
import { t } from "./en";
import { type PartName, fieldsOf, groupOrder, icons, partsOf, pathOf } from "./groups";
import { KeysCard } from "./keys-card";
import { SecretKeyCard } from "./secret-key-card";
import { SessionsCard } from "./sessions-card";
import { SetsCard } from "./sets-card";
import { type Drafts, type Section, SettingList, changesOf } from "./setting-list";
import { isFound } from "./setting-values";
import { SystemCard } from "./system-card";
import { TransferCard } from "./transfer-card";

interface SettingsPageProps {
  /** Named by the address; undefined for the essentials. */
  group: string | undefined;
  /** Replacements of controls, by key. */
  editors?: Readonly<Record<string, ReactNode>>;
  /** Additions to controls, by key. */
  cards?: Readonly<Record<string, ReactNode>>;
}

const none = {};

/** The page of all settings, built from the schema of the server. */
export function SettingsPage({ group, editors = none, cards = none }: SettingsPageProps) {
  const client = useQueryClient();
  const [search, setSearch] = useSearchParams();
  const schema = useQuery(schemaQuery);
  const current = useQuery(valuesQuery);
  const [drafts, setDrafts] = useState<Drafts>({});
  useTopic("config", () => {
    void client.invalidateQueries({ queryKey: valuesQuery.queryKey });
    void client.invalidateQueries({ queryKey: setsQuery.queryKey });
    // The notices above every page also depend on settings.
    void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  });
  const hasDrafts = Object.keys(drafts).length > 0;
  useEffect(() => {
    if (!hasDrafts) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [hasDrafts]);

  const query = search.get("q") ?? "";
  const failed = schema.error ?? current.error;
  if (failed) {
    const again = () => void Promise.all([schema.refetch(), current.refetch()]);
    return (
      <Notice tone="bad" isAlert actions={<Button size="sm" onClick={again}>{t("try-again")}</Button>}>
        {t("load-failed", { reason: ApiProblem.from(failed).title })}
      </Notice>
    );
  }
  if (!schema.data || !current.data) return <SkeletonRows rows={8} />;

  const fields = schema.data.items;
  const values = new Map(current.data.items.map((value) => [value.key, value]));
  const parts = partsOf(fields);
  const part = parts.find((name) => name === group) ?? "essentials";
  const found = query.trim() === "" ? null : fields.filter((field) => isFound(field, query));
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[13rem_minmax(0,46rem)]">
      <div className="grid gap-3 lg:sticky lg:top-[calc(var(--bar)+1.5rem)]">
        <TextField
          type="search"
          label={t("search")}
          isLabelHidden
          placeholder={t("search")}
          value={query}
          suffix={<span className="pe-1.5 text-muted"><Icon of={Search} /></span>}
          onChange={(event) => setSearch(event.target.value === "" ? {} : { q: event.target.value }, { replace: true, preventScrollReset: true })}
        />
        <Parts parts={parts} current={found ? null : part} fields={fields} values={values} drafts={drafts} />
      </div>
      <div className="grid min-w-0 gap-5">
        {(part === "system" || current.data.items.some((value) => value.isLocked)) && <SecretKeyCard />}
        {found ? (
          <Found fields={found} onClear={() => setSearch({}, { replace: true })}>
            <SettingList key="found" sections={byGroup(found)} values={values} drafts={drafts} onDrafts={setDrafts} editors={editors} cards={cards} />
          </Found>
        ) : (
          <>
            <p className="text-muted">{t(`about.${part}`)}</p>
            {part === "system" && <SystemCard />}
            {part === "backups" && <BackupsCard />}
            <SettingList key={part} sections={sectionsOf(part, fields)} values={values} drafts={drafts} onDrafts={setDrafts} editors={editors} cards={cards} />
            {part === "account" && (
              <>
                <AccountCard />
                <SessionsCard />
                <KeysCard />
              </>
            )}
            {part === "system" && (
              <>
                <SetsCard titles={new Map(fields.map((field) => [field.key, field.title]))} />
                <TransferCard />
              </>
            )}
          </>
        )}
      </div>
    </div>
  );
}

interface PartsProps {
  parts: readonly PartName[];
  current: PartName | null;
  fields: readonly SettingField[];
  values: ReadonlyMap<string, SettingValue>;
  drafts: Drafts;
}

/** The navigation between the parts, with a dot at unsaved ones. On phones it is a scrolling row. */
function Parts({ parts, current, fields, values, drafts }: PartsProps) {
  const changed = new Set(changesOf(fields, values, drafts).map((change) => change.field.group));
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // In braces, because some browsers return a promise and an effect must not.
    nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current]);
  return (
    <nav ref={nav} aria-label={t("groups")} className="-mx-4 overflow-x-auto px-4 lg:mx-0 lg:px-0">
      <ul className="flex gap-1 lg:grid">
        {parts.map((name) => (
          <li key={name} className="shrink-0">
            <NavLink
              end
              to={pathOf(name)}
              aria-current={name === current ? "page" : undefined}
              className={cx(
                "flex min-h-9 items-center gap-2.5 rounded-md px-2.5 font-medium whitespace-nowrap -outline-offset-2 touch:min-h-11",
                name === current ? "bg-accent-soft text-accent" : "text-muted hover:bg-hover hover:text-ink",
              )}
            >
              <Icon of={icons[name]} />
              {t(`group.${name}`)}
              {groupOrder.some((group) => group === name && changed.has(group)) && (
                <>
                  <Dot tone="warn" />
                  <span className="sr-only">{t("has-changes")}</span>
                </>
              )}
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Found({ fields, onClear, children }: { fields: readonly SettingField[]; onClear: () => void; children: ReactNode }) {
  return (
    <>
      <p role="status" className="text-muted">
        {t("search-results", { count: fields.length })}
      </p>
      {fields.length === 0 && (
        <EmptyState icon={SearchX} title={t("search-none")} actions={<Button onClick={onClear}>{t("clear")}</Button>}>
          {t("search-none-body")}
        </EmptyState>
      )}
      {children}
    </>
  );
}

function byGroup(fields: readonly SettingField[]): Section[] {
  return groupOrder
    .map((group) => ({ name: group, title: t(`group.${group}`), fields: fields.filter((field) => field.group === group) }))
    .filter((section) => section.fields.length > 0);
}

function sectionsOf(part: PartName, fields: readonly SettingField[]): Section[] {
  const { basic, advanced } = fieldsOf(part, fields);
  if (part === "essentials") return byGroup(basic);
  const sections = [
    { name: "basic", title: t(`group.${part}`), fields: basic },
    { name: "advanced", title: t("advanced"), fields: advanced },
  ];
  return sections.filter((section) => section.fields.length > 0);
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Fragment, type ReactNode, useState } from "react";
import { Card } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { ApiProblem } from "@/lib/api-problem";
import { toast } from "@/lib/toast";
import { type SettingField, type SettingValue, resetSetting, saveSettings, valuesQuery } from "./api/settings";
import { t } from "./en";
import { type Change, SaveBar } from "./save-bar";
import { SettingRow, rowId } from "./setting-row";
import { isSame, toDraft, toText } from "./setting-values";
import { errorOf } from "./validation";

/** Unsaved texts by key. */
export type Drafts = Readonly<Record<string, string>>;

/** Settings under a heading. */
export interface Section {
  name: string;
  title: string;
  fields: readonly SettingField[];
}

interface SettingListProps {
  sections: readonly Section[];
  values: ReadonlyMap<string, SettingValue>;
  drafts: Drafts;
  onDrafts: (drafts: Drafts) => void;
  /** Replacements of controls, by key. */
  editors: Readonly<Record<string, ReactNode>>;
  /** Additions to controls, by key. */
  cards: Readonly<Record<string, ReactNode>>;
}

/** A list of settings that are saved together. */
export function SettingList({ sections, values, drafts, onDrafts, editors, cards }: SettingListProps) {
  const client = useQueryClient();
  const [errors, setErrors] = useState<Record<string, string>>({});
  const fields = sections.flatMap((section) => section.fields);
  const changes = changesOf(fields, values, drafts);
  const others = Object.keys(errors).filter((key) => !fields.some((field) => field.key === key));

  const restore = useMutation({
    mutationFn: (before: Record<string, string | null>) => saveSettings(before),
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
    onSettled: () => client.invalidateQueries({ queryKey: valuesQuery.queryKey }),
  });

  const reset = useMutation({
    // Read before the request, because the new value may arrive before the response.
    onMutate: (field: SettingField) => values.get(field.key)?.value ?? null,
    mutationFn: (field: SettingField) => resetSetting(field.key),
    onSuccess: (_, field, before) => {
      const undo = { label: t("undo"), run: () => restore.mutate({ [field.key]: before }) };
      toast({ title: t("reset-done", { title: field.title }), ...(before === null ? {} : { action: undo, seconds: 10 }) });
      drop([field.key]);
    },
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
    onSettled: () => client.invalidateQueries({ queryKey: valuesQuery.queryKey }),
  });

  function drop(keys: readonly string[]) {
    onDrafts(Object.fromEntries(Object.entries(drafts).filter(([key]) => !keys.includes(key))));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([key]) => !keys.includes(key))));
  }

  function change(field: SettingField, draft: string) {
    onDrafts({ ...drafts, [field.key]: draft });
    const error = errorOf(field, toText(field, draft));
    setErrors((before) => {
      const { [field.key]: _, ...rest } = before;
      return error ? { ...rest, [field.key]: error } : rest;
    });
  }

  function show(wrong: Record<string, string>) {
    setErrors(wrong);
    const first = fields.find((field) => wrong[field.key]);
    if (first) document.getElementById(rowId(first.key))?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }

  function check(): boolean {
    const wrong: Record<string, string> = {};
    for (const { field, after } of changes) {
      const error = errorOf(field, after);
      if (error) wrong[field.key] = error;
    }
    show(wrong);
    return Object.keys(wrong).length === 0;
  }

  function refuse(problem: ApiProblem) {
    const wrong = Object.fromEntries(Object.entries(problem.errors).map(([key, sentences]) => [key, sentences[0] ?? problem.title]));
    show(wrong);
    if (Object.keys(wrong).length === 0) toast({ tone: "bad", title: problem.title });
  }

  function row(field: SettingField) {
    const value = values.get(field.key);
    if (!value) return null;
    return (
      <SettingRow
        key={field.key}
        field={field}
        value={value}
        draft={drafts[field.key] ?? toDraft(field, value.value ?? "")}
        error={errors[field.key]}
        onChange={(draft) => change(field, draft)}
        onReset={() => reset.mutate(field)}
      />
    );
  }

  return (
    <>
      {sections.map((section) => {
        const plain = section.fields.filter((field) => !(field.key in editors));
        return (
          <Fragment key={section.name}>
            {section.fields.map(({ key }) =>
              key in editors ? (
                <div key={key} id={rowId(key)}>
                  {editors[key]}
                </div>
              ) : (
                <Fragment key={key}>{cards[key]}</Fragment>
              ),
            )}
            {plain.length > 0 && (
              <Card title={section.title}>
                <div className="divide-y divide-line">{plain.map(row)}</div>
              </Card>
            )}
          </Fragment>
        );
      })}
      {others.length > 0 && (
        <Notice tone="bad" isAlert>
          <p className="font-medium">{t("errors-in")}</p>
          <ul className="list-disc ps-5">
            {others.map((key) => (
              <li key={key}>{`${key}: ${errors[key] ?? ""}`}</li>
            ))}
          </ul>
        </Notice>
      )}
      <SaveBar
        changes={changes}
        check={check}
        onDiscard={() => drop(fields.map((field) => field.key))}
        onSaved={() => drop(changes.map((entry) => entry.field.key))}
        onRefused={refuse}
      />
    </>
  );
}

/** Returns the drafts that differ from the current values. A typed secret always counts. */
export function changesOf(fields: readonly SettingField[], values: ReadonlyMap<string, SettingValue>, drafts: Drafts): Change[] {
  return fields.flatMap((field) => {
    const draft = drafts[field.key];
    const value = values.get(field.key);
    if (draft === undefined || !value) return [];
    const [before, after] = [value.value ?? "", toText(field, draft)];
    const isUntouched = field.secret ? draft.trim() === "" : isSame(field, before, after);
    return isUntouched ? [] : [{ field, before: field.secret && value.isSet ? "set" : before, after }];
  });
}

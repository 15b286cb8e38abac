import { RotateCcw } from "lucide-react";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Code } from "@/components/ui/code";
import { formatNumber } from "@/lib/format";
import { Rich } from "@/lib/i18n/rich";
import type { SettingField, SettingValue } from "./api/settings";
import { t } from "./en";
import { SettingControl } from "./setting-control";
import { inWords, isResettable, isSame } from "./setting-values";

interface SettingRowProps {
  field: SettingField;
  value: SettingValue;
  draft: string;
  error: string | undefined;
  onChange: (draft: string) => void;
  onReset: () => void;
}

const code = { code: (inner: string) => <Code>{inner}</Code> };

// Range, default and key matter only while the user changes the value.
const onFocus = "invisible group-focus-within/row:visible group-hover/row:visible group-target/row:visible";

/** Returns the id of the row of a setting. */
export const rowId = (key: string) => `setting-${key}`;

/** A setting with its control and its facts. */
export function SettingRow({ field, value, draft, error, onChange, onReset }: SettingRowProps) {
  const isFixed = value.source === "environment";
  const isChanged = field.secret ? value.source !== "default" && value.isSet : !isSame(field, value.value ?? "", field.default);
  return (
    <div id={rowId(field.key)} className="group/row grid gap-1.5 py-3.5 first:pt-1 last:pb-1">
      <SettingControl field={field} draft={draft} isSet={value.isSet} isLocked={value.isLocked} isFixed={isFixed} error={error} onChange={onChange} />
      {/* The line keeps its height while it is empty, so that the content below does not move under the pointer. */}
      <div className="flex min-h-5 flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-muted">
        {isChanged && !field.secret && <Badge tone="accent">{t("changed")}</Badge>}
        {value.isLocked && <Badge tone="bad">{t("locked")}</Badge>}
        {field.secret && value.source === "saved" && !value.isLocked && <Badge>{t("saved-here")}</Badge>}
        {field.restart && <Badge tone="warn">{t("restart")}</Badge>}
        <span className={onFocus}>{facts(field, value).join(" · ")}</span>
        <code className={`ms-auto font-mono text-muted ${onFocus}`}>{field.key}</code>
        {isResettable(field, value) && (isChanged || field.secret) && (
          <Button tone="quiet" size="sm" icon={RotateCcw} aria-label={t("reset", { title: field.title })} onClick={onReset}>
            {t("reset-short")}
          </Button>
        )}
      </div>
      {value.variable !== null && (value.source === "environment" || value.source === "fallback") && (
        <p className="text-sm text-muted">
          <Rich text={t(isFixed ? "locked-by" : "from-variable", { variable: value.variable })} marks={code} />
        </p>
      )}
    </div>
  );
}

/** Returns the default, the range and the current automatic value as sentences. */
function facts(field: SettingField, value: SettingValue): string[] {
  const sentences: string[] = [];
  const isCount = field.type === "integer";
  if (isCount && field.min !== null && field.max !== null) {
    const range = { min: formatNumber(field.min), max: formatNumber(field.max) };
    sentences.push(field.unit === null ? t("range", range) : t("range-unit", { ...range, unit: field.unit }));
  }
  const isZero = field.zeroMeans !== null && field.default === (isCount ? "0" : "");
  if (isZero && !field.secret) sentences.push(t(isCount ? "default-zero" : "default-empty", { meaning: field.zeroMeans ?? "" }));
  else if (!field.secret) sentences.push(t("default-is", { value: inWords(field, field.default) }));
  if (field.zeroMeans !== null && (field.secret || !isZero)) sentences.push(t(isCount ? "zero-is" : "empty-is", { meaning: field.zeroMeans }));
  if (field.type === "list" || field.type === "secret-list") sentences.push(t("list-help"));
  if (value.effective !== null) sentences.push(t("effective", { value: value.effective }));
  return sentences;
}

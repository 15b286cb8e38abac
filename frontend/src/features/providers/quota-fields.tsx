import { SelectField } from "@/components/ui/select-field";
import { TextField } from "@/components/ui/text-field";
import { t } from "./en";
import type { DraftErrors, ProviderDraft } from "./provider-draft";

interface QuotaFieldsProps {
  draft: ProviderDraft;
  errors: DraftErrors;
  onChange: (change: Partial<ProviderDraft>) => void;
}

/** The data cap in the form of a provider: its kind, and the fields that this kind needs. */
export function QuotaFields({ draft, errors, onChange }: QuotaFieldsProps) {
  return (
    <>
      <SelectField
        label={t("cap")}
        name="cap"
        value={draft.cap}
        options={(["none", "monthly", "block"] as const).map((value) => ({ value, label: t(`cap.${value}`) }))}
        help={t(`cap-help.${draft.cap}`)}
        onChange={(cap) => onChange({ cap })}
      />
      {draft.cap !== "none" && (
        <>
          <SizeField label={t("cap-size")} name="byteLimit" value={draft.byteLimit} error={errors.byteLimit} onChange={(byteLimit) => onChange({ byteLimit })} />
          {draft.cap === "monthly" && (
            <TextField
              label={t("reset-day")}
              name="resetDay"
              inputMode="numeric"
              autoComplete="off"
              value={draft.resetDay}
              error={errors.resetDay}
              help={t("reset-day-help")}
              onChange={(event) => onChange({ resetDay: event.target.value })}
            />
          )}
          <SizeField
            label={t("used-before")}
            name="usedBefore"
            value={draft.usedBefore}
            error={errors.usedBefore}
            help={t("used-before-help")}
            onChange={(usedBefore) => onChange({ usedBefore })}
          />
          <TextField
            label={t("reserve")}
            name="reservePercent"
            inputMode="numeric"
            autoComplete="off"
            value={draft.reservePercent}
            error={errors.reservePercent}
            help={t("reserve-help")}
            suffix={<Unit of="%" />}
            onChange={(event) => onChange({ reservePercent: event.target.value })}
          />
        </>
      )}
    </>
  );
}

interface SizeFieldProps {
  label: string;
  name: string;
  value: string;
  error?: string | undefined;
  help?: string;
  onChange: (value: string) => void;
}

/** A field for a size in GB. */
export function SizeField({ label, name, value, error, help, onChange }: SizeFieldProps) {
  return (
    <TextField
      label={label}
      name={name}
      inputMode="decimal"
      autoComplete="off"
      value={value}
      error={error}
      help={help}
      suffix={<Unit of="GB" />}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function Unit({ of }: { of: string }) {
  return <span className="pe-1.5 text-sm text-muted">{of}</span>;
}

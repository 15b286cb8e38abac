import { Button } from "@/components/ui/button";
import { Field, controlClass } from "@/components/ui/field";
import { SelectField } from "@/components/ui/select-field";
import { SwitchField } from "@/components/ui/switch-field";
import { NumberField, PasswordField, TextField } from "@/components/ui/text-field";
import { TextareaField } from "@/components/ui/textarea-field";
import type { SettingField } from "./api/settings";
import { t } from "./en";
import { choiceLabel, isOn, isRandomKey } from "./setting-values";

interface SettingControlProps {
  field: SettingField;
  /** In the format of {@link toDraft}. */
  draft: string;
  /** Whether a secret has a value, which is never shown. */
  isSet: boolean;
  /** Whether the key file of the value is lost. */
  isLocked: boolean;
  /** Whether the environment sets the value. */
  isFixed: boolean;
  error: string | undefined;
  onChange: (draft: string) => void;
}

const keyBytes = 16;

/** The control of a setting, according to its type. */
export function SettingControl({ field, draft, isSet, isLocked, isFixed, error, onChange }: SettingControlProps) {
  const common = { label: field.title, help: field.help, error, name: field.key, disabled: isFixed };
  const secretHint = isLocked ? t("secret-locked") : isSet ? t("secret-set") : t("secret-unset");
  switch (field.type) {
    case "bool":
      return <SwitchField {...common} isOn={isOn(draft)} onChange={(isNowOn) => onChange(String(isNowOn))} />;
    case "choice":
      return (
        <SelectField {...common} value={draft} options={(field.choices ?? []).map((value) => ({ value, label: choiceLabel(value) }))} onChange={onChange} />
      );
    case "integer":
      return (
        <NumberField
          {...common}
          value={draft === "" ? null : Number(draft)}
          unit={field.unit ?? undefined}
          min={field.min ?? undefined}
          max={field.max ?? undefined}
          onChange={(value) => onChange(value === null ? "" : String(value))}
        />
      );
    case "minutes":
      return (
        <Field label={field.title} help={field.help} error={error}>
          {(wiring) => (
            <input
              {...wiring}
              type="time"
              disabled={isFixed}
              value={clockOf(draft)}
              className={controlClass}
              onChange={(event) => onChange(minutesOf(event.target.value))}
            />
          )}
        </Field>
      );
    case "list":
      return <TextareaField {...common} rows={rowsOf(draft)} spellCheck={false} value={draft} onChange={(event) => onChange(event.target.value)} />;
    case "secret-list":
      return <TextareaField {...common} rows={2} spellCheck={false} placeholder={secretHint} value={draft} onChange={(event) => onChange(event.target.value)} />;
    case "json":
      return (
        <TextareaField {...common} rows={rowsOf(draft)} spellCheck={false} className="font-mono" value={draft} onChange={(event) => onChange(event.target.value)} />
      );
    case "secret":
      return (
        <div className="grid gap-2">
          <PasswordField {...common} autoComplete="new-password" placeholder={secretHint} value={draft} onChange={(event) => onChange(event.target.value)} />
          {isRandomKey(field) && !isFixed && (
            <Button size="sm" className="w-fit" onClick={() => onChange(randomKey())}>
              {t("make-key")}
            </Button>
          )}
        </div>
      );
    default:
      return (
        <TextField
          {...common}
          type={field.type === "url" ? "url" : "text"}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={draft}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
}

function rowsOf(draft: string): number {
  return Math.min(8, Math.max(2, draft.split("\n").length));
}

function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(keyBytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function clockOf(minutes: string): string {
  const number = Number(minutes) || 0;
  return [Math.floor(number / 60), number % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

function minutesOf(clock: string): string {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  return String(hours * 60 + minutes);
}

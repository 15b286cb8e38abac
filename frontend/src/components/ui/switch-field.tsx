import { Check } from "lucide-react";
import { useId } from "react";
import { cx } from "@/lib/cx";
import { type FieldProps, FieldNotes } from "./field";
import { Icon } from "./icon";

interface ToggleProps extends Omit<FieldProps, "isOptional"> {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  disabled?: boolean;
  name?: string;
}

export function SwitchField({ label, isLabelHidden, help, error, className, isOn, onChange, disabled, name }: ToggleProps) {
  const id = useId();
  return (
    <div className={cx("grid gap-1", className)}>
      <label htmlFor={id} className="flex min-h-6 items-center justify-between gap-3 touch:min-h-11">
        <span className={isLabelHidden ? "sr-only" : "text-sm font-medium text-ink"}>{label}</span>
        <span className="relative inline-flex shrink-0">
          <input
            id={id}
            name={name}
            type="checkbox"
            role="switch"
            checked={isOn}
            disabled={disabled}
            aria-describedby={`${error ? `${id}-error` : ""} ${help ? `${id}-help` : ""}`.trim() || undefined}
            onChange={(event) => onChange(event.target.checked)}
            className="peer h-6 w-10 appearance-none rounded-full border border-line-strong bg-sunken transition-colors checked:border-accent-fill checked:bg-accent-fill disabled:opacity-50"
          />
          <span className="pointer-events-none absolute start-1 top-1 size-4 rounded-full bg-line-strong transition-transform peer-checked:translate-x-4 peer-checked:bg-accent-ink rtl:peer-checked:-translate-x-4" />
        </span>
      </label>
      <FieldNotes id={id} help={help} error={error} />
    </div>
  );
}

/** A checkbox with a label. */
export function CheckboxField({ label, isLabelHidden, help, error, className, isOn, onChange, disabled, name }: ToggleProps) {
  const id = useId();
  return (
    <div className={cx("grid gap-1", className)}>
      <label htmlFor={id} className="flex min-h-6 items-center gap-2.5 touch:min-h-11">
        <Checkbox
          id={id}
          name={name}
          isOn={isOn}
          disabled={disabled}
          onChange={onChange}
          describedBy={`${error ? `${id}-error` : ""} ${help ? `${id}-help` : ""}`.trim() || undefined}
        />
        <span className={isLabelHidden ? "sr-only" : "text-base text-ink"}>{label}</span>
      </label>
      <FieldNotes id={id} help={help} error={error} />
    </div>
  );
}

interface CheckboxProps {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  /** Whether only some of the rows that it stands for are ticked. */
  isMixed?: boolean;
  label?: string;
  id?: string;
  name?: string | undefined;
  disabled?: boolean | undefined;
  describedBy?: string | undefined;
}

/** The checkbox alone, for rows of a table. */
export function Checkbox({ isOn, onChange, isMixed = false, label, id, name, disabled, describedBy }: CheckboxProps) {
  return (
    <span className="relative inline-flex size-6 shrink-0 items-center justify-center touch:-m-2.5 touch:size-11">
      <input
        id={id}
        name={name}
        type="checkbox"
        aria-label={label}
        aria-describedby={describedBy}
        checked={isOn}
        disabled={disabled}
        ref={(box) => {
          if (box) box.indeterminate = isMixed;
        }}
        onChange={(event) => onChange(event.target.checked)}
        className="peer absolute inset-0 m-auto size-6 appearance-none rounded-md bg-transparent disabled:opacity-50 touch:size-11"
      />
      <span className="pointer-events-none flex size-4 items-center justify-center rounded-sm border border-line-strong bg-surface text-transparent peer-checked:border-accent-fill peer-checked:bg-accent-fill peer-checked:text-accent-ink peer-indeterminate:border-accent-fill peer-indeterminate:bg-accent-soft">
        <Icon of={Check} size={12} />
      </span>
    </span>
  );
}

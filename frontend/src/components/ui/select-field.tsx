import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { cx } from "@/lib/cx";
import { Field, type FieldProps, controlClass } from "./field";
import { Icon } from "./icon";

interface SelectFieldProps<Value extends string> extends FieldProps, Omit<ComponentProps<"select">, keyof FieldProps | "value" | "onChange" | "children"> {
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}

/** A choice of a few words, as the browser's own list because phones show that best. */
export function SelectField<Value extends string>({
  label, isLabelHidden, help, error, isOptional, className, options, onChange, ...select
}: SelectFieldProps<Value>) {
  return (
    <Field {...{ label, isLabelHidden, help, error, isOptional, className }}>
      {(wiring) => (
        <span className="relative block">
          <select {...select} {...wiring} className={cx(controlClass, "appearance-none pe-8")} onChange={(event) => onChange(event.target.value as Value)}>
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
          <span className="pointer-events-none absolute inset-y-0 end-2.5 flex items-center text-muted">
            <Icon of={ChevronDown} size={14} />
          </span>
        </span>
      )}
    </Field>
  );
}

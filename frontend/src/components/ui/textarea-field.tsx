import type { ComponentProps } from "react";
import { cx } from "@/lib/cx";
import { Field, type FieldProps, controlClass } from "./field";

/** A text field of several lines. */
export function TextareaField({
  label, isLabelHidden, help, error, isOptional, className, rows = 4, ...area
}: FieldProps & Omit<ComponentProps<"textarea">, keyof FieldProps>) {
  return (
    <Field {...{ label, isLabelHidden, help, error, isOptional, className }}>
      {(wiring) => <textarea {...area} {...wiring} rows={rows} className={cx(controlClass, "h-auto! resize-y py-1.5")} />}
    </Field>
  );
}

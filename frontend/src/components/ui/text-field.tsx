import { Eye, EyeOff } from "lucide-react";
import { type ComponentProps, type ReactNode, useState } from "react";
import { cx } from "@/lib/cx";
import { IconButton } from "./button";
import { t } from "./en";
import { Field, type FieldProps, controlClass } from "./field";

type InputProps = Omit<ComponentProps<"input">, keyof FieldProps | "type">;

interface TextFieldProps extends FieldProps, InputProps {
  type?: "text" | "search" | "url" | "email";
  /** After the value, for example a unit or a button. */
  suffix?: ReactNode;
}

/** A text field of one line. */
export function TextField({ label, isLabelHidden, help, error, isOptional, className, suffix, ...input }: TextFieldProps) {
  return (
    <Field {...{ label, isLabelHidden, help, error, isOptional, className }}>
      {(wiring) => <Box {...input} {...wiring} suffix={suffix} />}
    </Field>
  );
}

/** A password field with a button that shows its text. */
export function PasswordField({ label, isLabelHidden, help, error, isOptional, className, ...input }: FieldProps & InputProps) {
  const [isShown, setShown] = useState(false);
  return (
    <Field {...{ label, isLabelHidden, help, error, isOptional, className }}>
      {(wiring) => (
        <Box
          spellCheck={false}
          {...input}
          {...wiring}
          type={isShown ? "text" : "password"}
          suffix={
            <IconButton
              size="sm"
              icon={isShown ? EyeOff : Eye}
              label={isShown ? t("hide-password") : t("show-password")}
              onClick={() => setShown(!isShown)}
            />
          }
        />
      )}
    </Field>
  );
}

interface NumberFieldProps extends FieldProps, Omit<InputProps, "value" | "onChange"> {
  /** Null while the field is empty. */
  value: number | null;
  onChange: (value: number | null) => void;
  /** As in "ms". */
  unit?: string;
}

/** A field for a whole number. */
export function NumberField({ label, isLabelHidden, help, error, isOptional, className, value, onChange, unit, ...input }: NumberFieldProps) {
  return (
    <Field {...{ label, isLabelHidden, help, error, isOptional, className }}>
      {(wiring) => (
        <Box
          inputMode="numeric"
          {...input}
          {...wiring}
          type="number"
          value={value ?? ""}
          onChange={(event) => onChange(event.target.value === "" ? null : event.target.valueAsNumber)}
          suffix={unit && <span className="pe-1.5 text-sm text-muted">{unit}</span>}
        />
      )}
    </Field>
  );
}

function Box({ suffix, className, ...input }: ComponentProps<"input"> & { suffix?: ReactNode }) {
  if (!suffix) return <input {...input} className={cx(controlClass, className)} />;
  return (
    <span className="relative block">
      <input {...input} className={cx(controlClass, "pe-12", className)} />
      <span className="absolute inset-y-0 end-1 flex items-center">{suffix}</span>
    </span>
  );
}

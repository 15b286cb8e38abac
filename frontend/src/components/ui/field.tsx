import { type ReactNode, useId } from "react";
import { cx } from "@/lib/cx";
import { t } from "./en";

/** Properties that all fields share. */
export interface FieldProps {
  label: string;
  /** Shows the label to screen readers only. */
  isLabelHidden?: boolean;
  /** One or two sentences below the field. */
  help?: ReactNode;
  /** The error of the value, as a sentence. */
  error?: string;
  isOptional?: boolean;
  className?: string;
}

interface Wiring {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

/** Label, help and error around a control, linked to it by ids. */
export function Field({ label, isLabelHidden, help, error, isOptional, className, children }: FieldProps & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const helpId = help ? `${id}-help` : "";
  const errorId = error ? `${id}-error` : "";
  return (
    <div className={cx("grid gap-1.5", className)}>
      <label htmlFor={id} className={isLabelHidden ? "sr-only" : "text-sm font-medium text-ink"}>
        {label}
        {isOptional && <span className="ms-1.5 font-normal text-muted">{t("optional")}</span>}
      </label>
      {children({ id, "aria-describedby": `${errorId} ${helpId}`.trim() || undefined, "aria-invalid": error ? true : undefined })}
      <FieldNotes id={id} help={help} error={error} />
    </div>
  );
}

/** Help and error below a control. */
export function FieldNotes({ id, help, error }: { id: string; help?: ReactNode; error?: string | undefined }) {
  return (
    <>
      {error && (
        <p id={`${id}-error`} className="text-sm text-bad">
          {error}
        </p>
      )}
      {help && (
        <p id={`${id}-help`} className="text-sm text-muted">
          {help}
        </p>
      )}
    </>
  );
}

/** Classes of a text box. */
export const controlClass =
  "w-full min-w-0 rounded-md border border-line-strong/60 bg-surface px-2.5 text-ink shadow-card transition-colors hover:border-line-strong " +
  "focus-visible:outline-offset-0 aria-invalid:border-bad disabled:bg-sunken disabled:text-muted h-8.5 touch:h-11 touch:text-[1rem]";

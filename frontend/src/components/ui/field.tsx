import { type ReactNode, useId } from "react";
import { cx } from "@/lib/cx";
import { t } from "./en";

/** What every field has around it. */
export interface FieldProps {
  label: string;
  /** Keeps the name for screen readers alone. */
  isLabelHidden?: boolean;
  /** One or two sentences below it. */
  help?: ReactNode;
  /** What is wrong with the value. */
  error?: string;
  isOptional?: boolean;
  className?: string;
}

interface Wiring {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

/** Label, help and error around a control, which gets the ids that tie them together. */
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

/** The look of a box to type into. */
export const controlClass =
  "w-full min-w-0 rounded-md border border-line-strong/60 bg-surface px-2.5 text-ink shadow-card transition-colors hover:border-line-strong " +
  "focus-visible:outline-offset-0 aria-invalid:border-bad disabled:bg-sunken disabled:text-muted h-8.5 touch:h-11 touch:text-[1rem]";

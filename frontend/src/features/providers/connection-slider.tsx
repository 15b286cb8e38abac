import { Field } from "@/components/ui/field";
import { t } from "./en";
import { mostConnections } from "./provider-draft";

/** Chooses the number of connections of an account. */
export function ConnectionSlider({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  const most = Math.max(mostConnections, value);
  return (
    <Field label={t("max-connections")} help={t("max-connections-help")}>
      {(wiring) => (
        <span className="flex items-center gap-3">
          <input
            {...wiring}
            type="range"
            min={1}
            max={most}
            value={value}
            aria-valuetext={t("max-connections-value", { count: value })}
            onChange={(event) => onChange(event.target.valueAsNumber)}
            className="h-8.5 min-w-0 flex-1 touch:h-11"
          />
          <output className="w-10 text-end font-medium tabular-nums">{value}</output>
        </span>
      )}
    </Field>
  );
}

import { useId } from "react";
import { Disclosure } from "@/components/ui/disclosure";
import { SelectField } from "@/components/ui/select-field";
import { SwitchField } from "@/components/ui/switch-field";
import { PasswordField, TextField } from "@/components/ui/text-field";
import { ConnectionSlider } from "./connection-slider";
import { t } from "./en";
import { knownProviders } from "./known-providers";
import { type DraftErrors, type ProviderDraft, plainPort, tlsPort } from "./provider-draft";
import { QuotaFields } from "./quota-fields";

interface ProviderFieldsProps {
  draft: ProviderDraft;
  errors: DraftErrors;
  /** Whether a password is saved; then an empty field keeps it. */
  hasPassword: boolean;
  isMoreOpen: boolean;
  onMore: (isOpen: boolean) => void;
  onChange: (change: Partial<ProviderDraft>) => void;
}

/** The fields of a provider: three required ones, the others folded away. */
export function ProviderFields({ draft, errors, hasPassword, isMoreOpen, onMore, onChange }: ProviderFieldsProps) {
  const list = useId();
  return (
    <div className="grid gap-4">
      <TextField
        label={t("host")}
        name="host"
        list={list}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder={t("host-hint")}
        value={draft.host}
        error={errors.host}
        help={t("host-help")}
        onChange={(event) => onChange({ host: event.target.value })}
      />
      <datalist id={list}>
        {knownProviders.map((entry) => (
          <option key={entry.host} value={entry.host} label={entry.name} />
        ))}
      </datalist>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label={t("user")}
          name="user"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={draft.user}
          error={errors.user}
          onChange={(event) => onChange({ user: event.target.value })}
        />
        <PasswordField
          label={t("password")}
          name="password"
          autoComplete="off"
          value={draft.password}
          error={errors.password}
          help={hasPassword ? t("password-kept") : undefined}
          onChange={(event) => onChange({ password: event.target.value })}
        />
      </div>
      <Disclosure title={t("more")} isOpen={isMoreOpen} onToggle={onMore}>
        <MoreFields draft={draft} errors={errors} onChange={onChange} />
      </Disclosure>
    </div>
  );
}

function MoreFields({ draft, errors, onChange }: Pick<ProviderFieldsProps, "draft" | "errors" | "onChange">) {
  return (
    <div className="grid items-start gap-4 pt-3 sm:grid-cols-2">
      <TextField
        label={t("port")}
        name="port"
        inputMode="numeric"
        autoComplete="off"
        value={draft.port}
        error={errors.port}
        onChange={(event) => onChange({ port: event.target.value })}
      />
      <SwitchField label={t("tls")} help={t("tls-help")} name="tls" isOn={draft.tls} onChange={(tls) => onChange(tlsChange(draft, tls))} />
      <ConnectionSlider value={draft.maxConnections} onChange={(maxConnections) => onChange({ maxConnections })} />
      <SelectField
        label={t("use")}
        name="use"
        value={draft.use}
        options={(["primary", "backup", "disabled"] as const).map((value) => ({ value, label: t(`use.${value}`) }))}
        onChange={(use) => onChange({ use })}
      />
      <TextField
        label={t("priority")}
        name="priority"
        inputMode="numeric"
        autoComplete="off"
        value={draft.priority}
        error={errors.priority}
        help={t("priority-help")}
        onChange={(event) => onChange({ priority: event.target.value })}
      />
      <TextField
        label={t("name")}
        name="name"
        autoComplete="off"
        value={draft.name}
        error={errors.name}
        help={t("name-help")}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <TextField
        label={t("backbone")}
        name="backbone"
        autoComplete="off"
        value={draft.backbone}
        error={errors.backbone}
        help={t("backbone-help")}
        onChange={(event) => onChange({ backbone: event.target.value })}
      />
      <SwitchField
        label={t("skip-certificate")}
        help={t("skip-certificate-help")}
        name="skipsCertificateCheck"
        isOn={draft.skipsCertificateCheck}
        onChange={(skipsCertificateCheck) => onChange({ skipsCertificateCheck })}
      />
      <QuotaFields draft={draft} errors={errors} onChange={onChange} />
    </div>
  );
}

/** Turns encryption on or off; a default port changes with it. */
export function tlsChange(draft: ProviderDraft, tls: boolean): Partial<ProviderDraft> {
  const usual = String(tls ? plainPort : tlsPort);
  return draft.port === usual ? { tls, port: String(tls ? tlsPort : plainPort) } : { tls };
}

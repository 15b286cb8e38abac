import { CopyBlock } from "@/components/ui/copy-block";
import { t } from "./en";

const composeLines = `services:
  sluice:
    environment:
      RESET_ADMIN_PASSWORD: "true"`;

const shellLine = "RESET_ADMIN_PASSWORD=true ./tools/run.sh";

/** Explains how to replace a lost login, with the lines to copy. */
export function Forgot() {
  return (
    <details className="rounded-xl border border-line bg-surface px-4">
      <summary className="flex min-h-11 items-center font-medium text-muted hover:text-ink">{t("forgot")}</summary>
      <div className="grid gap-3 pb-4">
        <p className="text-muted">{t("forgot-why")}</p>
        <p>{t("forgot-1")}</p>
        <CopyBlock label={t("forgot-label")} isLabelHidden value={composeLines} />
        <p>{t("forgot-shell")}</p>
        <CopyBlock label={t("forgot-shell-label")} isLabelHidden value={shellLine} />
        <p>{t("forgot-2")}</p>
        <p>{t("forgot-3")}</p>
      </div>
    </details>
  );
}

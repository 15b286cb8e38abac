import { Notice } from "@/components/ui/notice";
import { formatPercent } from "@/lib/format";
import type { FileRow } from "../api/files";
import { t } from "../en";

/** Formats a share of 0 to 1; a small one gets a decimal. */
export function shareText(share: number): string {
  return formatPercent(100 * share, share < 0.1 ? 1 : 0);
}

/** Warns before a film plays that parts of it are missing. */
export function GapsNotice({ file: { missingShare } }: { file: FileRow }) {
  if (missingShare === null) return null;
  return (
    <Notice tone="warn">
      <p>{t("gaps-help", { percent: shareText(missingShare) })}</p>
      <p className="text-sm text-muted">{t("gaps-action")}</p>
    </Notice>
  );
}

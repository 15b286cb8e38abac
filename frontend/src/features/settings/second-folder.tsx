import { Card } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { Spinner } from "@/components/ui/spinner";
import type { Schema } from "@/lib/api-client";
import { formatDateTime } from "@/lib/format";
import { t } from "./backups-en";

/** Shows whether the second folder has complete copies; without a second folder, says why it helps. */
export function SecondFolder({ second }: { second: Schema<"SecondFolderRow"> | null }) {
  if (second === null) {
    return (
      <Card title={t("second")}>
        <p className="text-sm text-muted">{t("second-none")}</p>
      </Card>
    );
  }
  return (
    <Card title={t("second")}>
      <p className="mb-3 text-sm text-muted">{t("second-help")}</p>
      <div className="grid gap-3">
        {second.failure !== null && <Notice tone="bad">{second.failure}</Notice>}
        {second.warning !== null && <Notice tone="warn">{second.warning}</Notice>}
        <div>
          <p className="font-mono text-sm wrap-anywhere">{second.path}</p>
          <p role="status" className="flex items-center gap-2 text-sm text-muted">
            {second.isCopying ? (
              <>
                <Spinner /> {t("second-copying")}
              </>
            ) : second.newestAt !== null ? (
              t("second-count", { count: second.count, date: formatDateTime(second.newestAt) })
            ) : (
              second.failure === null && t("second-empty")
            )}
          </p>
        </div>
      </div>
    </Card>
  );
}

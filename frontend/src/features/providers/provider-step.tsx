import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { formatRate } from "@/lib/format";
import { toast } from "@/lib/toast";
import { useProviders } from "./api/providers";
import { t } from "./en";
import { ProviderForm } from "./provider-form";

/** The provider step of the setup. */
export function ProviderStep({ onDone }: { onDone: () => void }) {
  const providers = useProviders();
  const [isAdding, setAdding] = useState(false);
  const count = providers.data?.items.length ?? 0;
  if (providers.isPending) return <SkeletonRows rows={3} />;
  if (count > 0 && !isAdding) {
    return (
      <div className="grid gap-4">
        <Notice tone="ok">{t("already-there", { count })}</Notice>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={() => setAdding(true)}>{t("add-another")}</Button>
          <Button tone="accent" size="lg" onClick={onDone}>
            {t("continue")}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <ProviderForm
      row={null}
      isStep
      extra={
        <Button tone="quiet" size="lg" onClick={onDone}>
          {t("skip")}
        </Button>
      }
      onSaved={(row, connections, rate) => {
        const found = connections ?? row.connections.max;
        const detail = t("max-connections-value", { count: found });
        toast({ tone: "ok", title: t("saved", { name: row.name }), body: rate === null ? detail : t("outcome-detail", { connections: detail, rate: formatRate(rate) }) });
        onDone();
      }}
    />
  );
}

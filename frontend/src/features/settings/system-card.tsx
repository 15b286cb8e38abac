import { useQuery } from "@tanstack/react-query";
import { Check, Download, TriangleAlert } from "lucide-react";
import { Button, buttonClass } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Icon } from "@/components/ui/icon";
import { KeyValues } from "@/components/ui/key-values";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { formatAgo, formatBytes } from "@/lib/format";
import { urlOf } from "@/lib/url-base";
import { systemQuery } from "./api/settings";
import { t } from "./en";

/** Version, memory, the server's checks of itself, and the bundle for bug reports. */
export function SystemCard() {
  const system = useQuery({ ...systemQuery, staleTime: 0 });
  const state = system.data;
  return (
    <Card title={t("system")}>
      {system.isPending && <SkeletonRows rows={3} />}
      {system.error && (
        <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => void system.refetch()}>{t("try-again")}</Button>}>
          {ApiProblem.from(system.error).title}
        </Notice>
      )}
      {state && (
        <div className="grid gap-4">
          <KeyValues
            items={[
              { label: t("version"), value: state.version },
              { label: t("commit"), value: state.commit },
              { label: t("form"), value: state.form },
              { label: t("running-since"), value: formatAgo(state.startedAt) },
              { label: t("memory"), value: t("memory-value", { used: formatBytes(state.residentBytes), budget: formatBytes(state.budgetBytes) }) },
              { label: t("disk"), value: state.freeBytes === null ? null : formatBytes(state.freeBytes) },
              { label: t("permits"), value: t("permits-value", { playback: state.playbackPermits, imports: state.importPermits }) },
            ]}
          />
          {state.newer && <p className="wrap-anywhere text-sm text-muted">{t("newer", { version: state.newer.version, notes: state.newer.notes })}</p>}
          {state.checks.length > 0 && (
            <div className="grid gap-1.5">
              <h3 className="text-sm font-semibold">{t("checks")}</h3>
              <ul className="grid gap-1.5">
                {state.checks.map((check) => (
                  <li key={check.name} className="flex items-start gap-2.5">
                    <Icon of={check.ok ? Check : TriangleAlert} className={check.ok ? "mt-1 text-ok" : "mt-1 text-warn"} />
                    <span className="min-w-0 wrap-anywhere">
                      <span className="sr-only">{check.ok ? t("check-ok") : t("check-bad")}</span>
                      <span className="font-medium">{check.name}</span> · <span className="text-muted">{check.sentence}</span>
                    </span>
                  </li>
                ))}
              </ul>
            </div>
          )}
        </div>
      )}
      <div className="mt-4 grid justify-items-start gap-2 border-t border-line pt-4">
        <p className="wrap-anywhere text-sm text-muted">{t("bundle-help")}</p>
        <a href={urlOf("api/system/support-bundle")} download className={buttonClass("plain", "sm")}>
          <Icon of={Download} />
          {t("bundle")}
        </a>
      </div>
    </Card>
  );
}

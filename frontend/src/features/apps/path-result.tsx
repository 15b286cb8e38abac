import { CopyBlock } from "@/components/ui/copy-block";
import { KeyValues } from "@/components/ui/key-values";
import { Notice } from "@/components/ui/notice";
import type { PathCheck } from "./api/apps";
import { t } from "./en";

/** Shows whether a program sees the finished files, and the line to add if it does not. */
export function PathResult({ path, name }: { path: PathCheck; name: string }) {
  return (
    <div className="grid gap-3">
      <Notice tone={path.ok ? "ok" : "warn"}>
        <p className="font-medium">{path.ok ? t("path-ok") : t("path-bad")}</p>
        <p>{path.sentence}</p>
      </Notice>
      {!path.ok && (
        <KeyValues
          items={[
            { label: t("path-ours"), value: path.ourPath },
            { label: t("path-theirs", { name }), value: path.theirPath },
          ]}
        />
      )}
      {path.volumeLine && (
        <div className="grid gap-1">
          <CopyBlock label={t("volume-line", { name })} value={path.volumeLine} />
          <p className="text-sm text-muted">{t("volume-line-help")}</p>
        </div>
      )}
    </div>
  );
}

import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import type { ArrPlan } from "./api/apps";
import { t } from "./en";

interface ArrPlanNoticeProps {
  plan: ArrPlan;
  /** Name of the program. */
  name: string;
  isBusy: boolean;
  onAgree: (agreed: string) => void;
  onCancel: () => void;
}

/** Sent instead of a token: adds another client and leaves the existing one unchanged. */
const addAnother = "add";

/** Shows how a download client in another program would change, and asks before it does. */
export function ArrPlanNotice({ plan, name, isBusy, onAgree, onCancel }: ArrPlanNoticeProps) {
  const { action, client, changes, token } = plan;
  return (
    <Notice tone="warn" isAlert>
      <div className="grid gap-3">
        <p>{t(action === "ask" ? "plan-ask" : "plan-change", { name, client: client ?? "" })}</p>
        <ul className="grid gap-1 text-sm">
          {changes.map((change) => (
            <li key={change.name} className="wrap-anywhere">
              <span className="font-medium">{labelOf(change.name)}</span> · {wordsOf(change)}
            </li>
          ))}
        </ul>
        <div className="flex flex-wrap gap-2">
          <Button size="sm" onClick={onCancel}>
            {t("cancel")}
          </Button>
          {action === "ask" && (
            <Button size="sm" isBusy={isBusy} onClick={() => onAgree(addAnother)}>
              {t("plan-add")}
            </Button>
          )}
          <Button size="sm" tone="accent" isBusy={isBusy} onClick={() => token !== null && onAgree(token)}>
            {t("plan-do")}
          </Button>
        </div>
      </div>
    </Notice>
  );
}

function labelOf(field: string): string {
  switch (field) {
    case "host":
    case "port":
    case "useSsl":
    case "urlBase":
    case "username":
    case "apiKey":
    case "password":
      return t(`plan-field.${field}`);
    default:
      // Each program names the field after its media: tvCategory, movieCategory and so on.
      return t("plan-field.category");
  }
}

function wordsOf({ name, from, to }: ArrPlan["changes"][number]): string {
  if (name === "apiKey" || name === "password") return t("plan-secret");
  if (name === "useSsl") return t("plan-from-to", { from: t(from === "true" ? "yes" : "no"), to: t(to === "true" ? "yes" : "no") });
  return t("plan-from-to", { from: from || t("plan-empty"), to: to || t("plan-empty") });
}

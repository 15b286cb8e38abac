import { CircleAlert, RotateCw } from "lucide-react";
import { Button } from "./button";
import { t } from "./en";
import { Icon } from "./icon";

/** What stands there where a list or a page could not be loaded: the sentence of the problem, and another try. */
export function Failure({ title, onRetry }: { title: string; onRetry: () => void }) {
  return (
    <div role="alert" className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg bg-bad-soft px-3.5 py-2.5 text-bad">
      <Icon of={CircleAlert} size={18} />
      <p className="min-w-0 flex-1 basis-56 text-ink wrap-anywhere">{title}</p>
      <Button size="sm" icon={RotateCw} onClick={onRetry}>
        {t("try-again")}
      </Button>
    </div>
  );
}

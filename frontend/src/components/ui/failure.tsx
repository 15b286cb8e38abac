import { RotateCw } from "lucide-react";
import { Button } from "./button";
import { t } from "./en";
import { Notice } from "./notice";

/** What stands there where a list or a page could not be loaded: the sentence of the problem, and another try. */
export function Failure({ title, onRetry }: { title: string; onRetry: () => void }) {
  return (
    <Notice
      tone="bad"
      isAlert
      actions={
        <Button size="sm" icon={RotateCw} onClick={onRetry}>
          {t("try-again")}
        </Button>
      }
    >
      {title}
    </Notice>
  );
}

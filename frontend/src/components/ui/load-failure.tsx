import { CloudOff, TriangleAlert } from "lucide-react";
import type { ApiProblem } from "@/lib/api-problem";
import { Button } from "./button";
import { EmptyState } from "./empty-state";
import { t } from "./en";
import { Notice } from "./notice";

interface LoadFailureProps {
  problem: ApiProblem;
  onRetry: () => void;
  /** Older rows are still shown below: one line does. */
  isLine?: boolean;
}

/** Why something could not be loaded, in the server's words where it had any, and a button that asks again. */
export function LoadFailure({ problem, onRetry, isLine = false }: LoadFailureProps) {
  const isUnreachable = problem.status === 0;
  const title = isUnreachable ? t("unreachable") : problem.title;
  const retry = <Button onClick={onRetry}>{t("try-again")}</Button>;
  if (isLine) {
    return (
      <Notice tone="warn" isAlert actions={retry}>
        {title}
      </Notice>
    );
  }
  return (
    <div role="alert">
      <EmptyState icon={isUnreachable ? CloudOff : TriangleAlert} title={title} actions={retry}>
        {isUnreachable ? t("unreachable-help") : null}
      </EmptyState>
    </div>
  );
}

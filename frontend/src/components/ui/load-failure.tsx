import { CloudOff, TriangleAlert } from "lucide-react";
import type { ApiProblem } from "@/lib/api-problem";
import { Button } from "./button";
import { EmptyState } from "./empty-state";
import { t } from "./en";
import { Icon } from "./icon";

interface LoadFailureProps {
  problem: ApiProblem;
  onRetry: () => void;
  /** Shows one line, because older rows are still visible below. */
  isLine?: boolean;
}

/** Says why loading failed, in the server's words if it sent any, with a button to retry. */
export function LoadFailure({ problem, onRetry, isLine = false }: LoadFailureProps) {
  const isUnreachable = problem.status === 0;
  const title = isUnreachable ? t("unreachable") : problem.title;
  const retry = <Button onClick={onRetry}>{t("try-again")}</Button>;
  if (isLine) {
    return (
      <div role="alert" className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg bg-warn-soft px-3.5 py-2.5">
        <Icon of={TriangleAlert} size={18} className="text-warn" />
        <p className="min-w-0 flex-1 basis-56 wrap-anywhere">{title}</p>
        {retry}
      </div>
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

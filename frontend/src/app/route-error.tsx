import { CloudOff, Compass } from "lucide-react";
import { useEffect } from "react";
import { isRouteErrorResponse, useRouteError } from "react-router";
import { ApiProblem } from "@/lib/api-problem";
import { usePageTitle } from "@/lib/page-title";
import { server } from "@/lib/server-watch";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { t } from "./en";

/** Shown instead of a page that failed: the reason, and buttons to reload or go home. */
export function RouteError() {
  const error = useRouteError();
  const isUnreachable = error instanceof ApiProblem && error.status === 0;
  usePageTitle(t("page-failed"));
  useEffect(() => {
    if (!isUnreachable) return;
    server.reportAway();
    return server.onBack(() => location.reload());
  }, [isUnreachable]);
  if (isRouteErrorResponse(error) && error.status === 404) return <NotFound />;
  const problem = error instanceof ApiProblem ? error : null;
  return (
    <EmptyState
      icon={CloudOff}
      title={isUnreachable ? t("unreachable") : t("page-failed")}
      actions={
        <>
          <Button tone="accent" onClick={() => location.reload()}>
            {t("try-again")}
          </Button>
          <ButtonLink to="/">{t("to-home")}</ButtonLink>
        </>
      }
    >
      {problem && !isUnreachable ? problem.title : error instanceof Error ? error.message : null}
    </EmptyState>
  );
}

/** {@link RouteError} for pages without a frame. */
export function BareRouteError() {
  return (
    <main className="py-10">
      <RouteError />
    </main>
  );
}

/** Shown for an address without a page. */
export function NotFound() {
  usePageTitle(t("page-not-found"));
  return (
    <EmptyState icon={Compass} title={t("page-not-found")} actions={<ButtonLink to="/">{t("to-home")}</ButtonLink>}>
      {t("page-not-found-help")}
    </EmptyState>
  );
}

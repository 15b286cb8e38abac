import { CloudOff, Compass } from "lucide-react";
import { isRouteErrorResponse, useRevalidator, useRouteError } from "react-router";
import { ApiProblem } from "@/lib/api-problem";
import { usePageTitle } from "@/lib/page-title";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { t } from "./en";

/** What stands in place of a page that failed: why, and a button. */
export function RouteError() {
  const error = useRouteError();
  const revalidator = useRevalidator();
  usePageTitle(t("page-failed"));
  if (isRouteErrorResponse(error) && error.status === 404) return <NotFound />;
  const problem = error instanceof ApiProblem ? error : null;
  return (
    <EmptyState
      icon={CloudOff}
      title={problem?.status === 0 ? t("unreachable") : t("page-failed")}
      actions={
        <>
          <Button tone="accent" isBusy={revalidator.state === "loading"} onClick={() => location.reload()}>
            {t("try-again")}
          </Button>
          <ButtonLink to="/">{t("to-overview")}</ButtonLink>
        </>
      }
    >
      {problem && problem.status !== 0 ? problem.title : error instanceof Error ? error.message : null}
    </EmptyState>
  );
}

/** The same where there is no frame around the page. */
export function BareRouteError() {
  return (
    <main className="py-10">
      <RouteError />
    </main>
  );
}

/** An address without a page. */
export function NotFound() {
  usePageTitle(t("page-not-found"));
  return (
    <EmptyState icon={Compass} title={t("page-not-found")} actions={<ButtonLink to="/">{t("to-overview")}</ButtonLink>}>
      {t("page-not-found-help")}
    </EmptyState>
  );
}

import { useEffect } from "react";
import { type LoaderFunctionArgs, redirect } from "react-router";
import { AppCards } from "@/features/apps/app-cards";
import { ProviderStep } from "@/features/providers/provider-step";
import { SetupPage } from "@/features/setup/setup-page";
import { ApiProblem } from "@/lib/api-problem";
import { acceptDrops } from "@/lib/page-drop";
import { usePageTitle } from "@/lib/page-title";
import { queryClient } from "@/lib/query-client";
import { sessionQuery } from "@/lib/session";
import { t } from "../en";
import { fetchSetup, loginPath } from "../guard";
import { BarePage } from "../shell/bare-page";

/** Requires a login for all steps of the setup after the first. */
export async function loader({ request, url }: LoaderFunctionArgs & { url?: URL }) {
  const setup = await fetchSetup();
  if (!setup.complete) return null;
  try {
    await queryClient.ensureQueryData(sessionQuery);
  } catch (error) {
    if (ApiProblem.from(error).status !== 401) throw error;
    const asked = url ?? new URL(request.url);
    throw redirect(loginPath(asked.pathname + asked.search));
  }
  return null;
}

export const shouldRevalidate = () => false;

export function Component() {
  usePageTitle(t("setup"));
  useEffect(acceptDrops, []);
  return (
    <BarePage title={t("setup")} width="lg">
      <SetupPage provider={(onDone) => <ProviderStep onDone={onDone} />} apps={<AppCards />} />
    </BarePage>
  );
}

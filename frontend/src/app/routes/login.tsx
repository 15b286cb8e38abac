import { usePageTitle } from "@/lib/page-title";
import { BarePage } from "../shell/bare-page";
import { t } from "../en";

export function Component() {
  usePageTitle(t("login"));
  return <BarePage title={t("login")}>{t("soon")}</BarePage>;
}

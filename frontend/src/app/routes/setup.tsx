import { usePageTitle } from "@/lib/page-title";
import { BarePage } from "../shell/bare-page";
import { t } from "../en";

export function Component() {
  usePageTitle(t("setup"));
  return <BarePage title={t("setup")}>{t("soon")}</BarePage>;
}

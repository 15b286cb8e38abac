import { RescuePage } from "@/features/rescue/rescue-page";
import { usePageTitle } from "@/lib/page-title";
import { t } from "../en";
import { BarePage } from "../shell/bare-page";

export function Component() {
  usePageTitle(t("rescue"));
  return (
    <BarePage title={t("rescue")} width="lg">
      <RescuePage />
    </BarePage>
  );
}

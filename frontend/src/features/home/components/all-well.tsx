import { Dot } from "@/components/ui/badge";
import { Card } from "@/components/ui/card";
import { t } from "../en";

/** What stands there while nothing needs attention. */
export function AllWell() {
  return (
    <Card title={t("attention")}>
      <p className="flex items-center gap-2 text-muted">
        <Dot tone="ok" />
        {t("all-well")}
      </p>
    </Card>
  );
}

import { CircleCheck } from "lucide-react";
import { Card } from "@/components/ui/card";
import { Icon } from "@/components/ui/icon";
import { t } from "../en";

/** What stands there while nothing needs attention. */
export function AllWell() {
  return (
    <Card title={t("attention")}>
      <p className="flex items-center gap-2 text-muted">
        <Icon of={CircleCheck} className="text-ok" />
        {t("all-well")}
      </p>
    </Card>
  );
}

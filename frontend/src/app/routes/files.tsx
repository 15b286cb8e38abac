import { Hammer } from "lucide-react";
import { EmptyState } from "@/components/ui/empty-state";
import { usePageTitle } from "@/lib/page-title";
import { t } from "../en";

export function Component() {
  usePageTitle(t("files"));
  return <EmptyState icon={Hammer} title={t("soon")} />;
}

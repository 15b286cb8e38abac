import { CircleDashed, RadioTower } from "lucide-react";
import type { MenuItem } from "@/components/ui/menu-item";
import type { Schema } from "@/lib/api-client";
import { t } from "../en";
import { type HistoryRow, retryItem } from "../api/history";
import { otherTriesOf } from "../api/reasons";

const icons = { everyone: RadioTower, damage: CircleDashed };

/** Returns the ways to retry besides the plain one; none if the result would be the same. */
export function otherTryItems(row: HistoryRow, failedStep: Schema<"JobStepName"> | undefined, onShow: () => void, onDone?: () => void): MenuItem[] {
  return otherTriesOf(row.reason, failedStep).map((other) => ({
    label: t(`retry-${other}`),
    icon: icons[other],
    onSelect: () => void retryItem(row, { other }, onShow).then((isBack) => isBack && onDone?.()),
  }));
}

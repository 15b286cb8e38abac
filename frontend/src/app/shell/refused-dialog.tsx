import { Dialog } from "@/components/ui/dialog";
import type { Refused } from "@/lib/upload-queue";
import { t } from "../en";

/** Lists the files that were not queued, each with its reason. */
export function RefusedDialog({ refused, onClose }: { refused: readonly Refused[]; onClose: () => void }) {
  return (
    <Dialog isOpen onClose={onClose} title={t("refused-title", { count: refused.length })}>
      <ul className="grid gap-3">
        {refused.map(({ name, reason }, index) => (
          <li key={index}>
            <p className="font-medium wrap-anywhere">{name}</p>
            <p className="text-sm text-muted">{reason}</p>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

import { Dialog } from "@/components/ui/dialog";
import { TextField } from "@/components/ui/text-field";
import { t } from "./en";

/** The search over pages, files, jobs and settings. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog isOpen onClose={onClose} title={t("title")}>
      <TextField type="search" label={t("title")} isLabelHidden placeholder={t("hint")} autoFocus />
    </Dialog>
  );
}

import { ChevronDown, Pause, Play } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { Menu } from "@/components/ui/menu";
import { t } from "../en";
import { pauseQueue, resumeQueue } from "../api/queue";

const minutes = [5, 15, 30] as const;
const hours = [1, 3, 12] as const;

/** Pauses the queue for a while or until it is resumed, and resumes it. */
export function PauseControl({ isPaused }: { isPaused: boolean }) {
  if (isPaused) {
    return (
      <Button tone="accent" icon={Play} onClick={() => void resumeQueue()}>
        {t("resume")}
      </Button>
    );
  }
  return (
    <Menu
      label={t("pause-queue")}
      items={[
        { label: t("pause-open"), icon: Pause, onSelect: () => void pauseQueue(null) },
        ...minutes.map((count, at) => ({ label: t("pause-minutes", { count }), startsGroup: at === 0, onSelect: () => void pauseQueue(count) })),
        ...hours.map((count) => ({ label: t("pause-hours", { count }), onSelect: () => void pauseQueue(60 * count) })),
      ]}
      trigger={(wiring) => (
        <Button icon={Pause} aria-label={t("pause-queue")} {...wiring}>
          <span className="max-sm:sr-only">{t("pause")}</span>
          <Icon of={ChevronDown} size={14} />
        </Button>
      )}
    />
  );
}

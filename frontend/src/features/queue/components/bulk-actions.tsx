import { ChevronDown, Flag, Pause, Play, Tag, Trash2 } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { Menu } from "@/components/ui/menu";
import { categoryName } from "@/lib/category";
import { toast } from "@/lib/toast";
import { t } from "../en";
import { type QueueTarget, changeItems, priorities, removeItems } from "../api/queue";

/** The actions on all ticked rows. */
export function BulkActions({ target, categories, onDone }: { target: QueueTarget; categories: readonly string[]; onDone: () => void }) {
  async function change(what: Parameters<typeof changeItems>[1]) {
    const changed = await changeItems(target, what);
    if (!changed) return;
    toast({ tone: "ok", title: t("changed", { count: changed.count }) });
    onDone();
  }

  return (
    <>
      <Button icon={Pause} onClick={() => void change({ paused: true })}>
        <span className="max-sm:sr-only">{t("pause")}</span>
      </Button>
      <Button icon={Play} onClick={() => void change({ paused: false })}>
        <span className="max-sm:sr-only">{t("resume")}</span>
      </Button>
      <Menu
        label={t("priority")}
        items={priorities.map((word) => ({ label: t(`priority-${word}`), onSelect: () => void change({ priority: word }) }))}
        trigger={(wiring) => (
          <Button icon={Flag} {...wiring}>
            <span className="max-sm:sr-only">{t("priority")}</span>
            <Icon of={ChevronDown} size={14} className="max-sm:hidden" />
          </Button>
        )}
      />
      {categories.length > 0 && (
        <Menu
          label={t("category")}
          items={categories.map((name) => ({ label: categoryName(name), onSelect: () => void change({ category: name }) }))}
          trigger={(wiring) => (
            <Button icon={Tag} {...wiring}>
              <span className="max-sm:sr-only">{t("category")}</span>
              <Icon of={ChevronDown} size={14} className="max-sm:hidden" />
            </Button>
          )}
        />
      )}
      <Button
        tone="danger"
        icon={Trash2}
        onClick={() => {
          void removeItems(target);
          onDone();
        }}
      >
        <span className="max-sm:sr-only">{t("remove")}</span>
      </Button>
    </>
  );
}

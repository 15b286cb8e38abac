import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "@/lib/cx";
import { Icon } from "./icon";

const looks = {
  info: { icon: Info, className: "bg-accent-soft text-accent" },
  ok: { icon: CircleCheck, className: "bg-ok-soft text-ok" },
  warn: { icon: TriangleAlert, className: "bg-warn-soft text-warn" },
  bad: { icon: CircleAlert, className: "bg-bad-soft text-bad" },
};

interface NoticeProps {
  tone?: keyof typeof looks;
  /** Screen readers announce it when it appears, for something that has just failed. */
  isAlert?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}

/** A message that stays until its cause is gone. */
export function Notice({ tone = "info", isAlert = false, actions, children }: NoticeProps) {
  const { icon, className } = looks[tone];
  return (
    <div role={isAlert ? "alert" : undefined} className={cx("flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg px-3.5 py-2.5", className)}>
      <Icon of={icon} size={18} />
      <div className="min-w-0 flex-1 basis-56 text-ink wrap-anywhere">{children}</div>
      {actions}
    </div>
  );
}

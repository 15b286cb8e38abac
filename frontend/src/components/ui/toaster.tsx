import { CircleAlert, CircleCheck, Info, X } from "lucide-react";
import { useEffect, useState } from "react";
import { type ShownToast, dismissToast, useToasts } from "@/lib/toast";
import { Button, IconButton } from "./button";
import { t } from "./en";
import { Icon } from "./icon";

/** The corner where toasts appear; exists once in the app. */
export function Toaster() {
  const all = useToasts();
  const bad = all.filter((entry) => entry.tone === "bad");
  const others = all.filter((entry) => entry.tone !== "bad");
  return (
    <div className="pointer-events-none fixed inset-x-0 bottom-(--tabs) z-60 flex flex-col items-center gap-2 p-3 empty:hidden sm:items-end sm:p-4">
      <div role="alert" className="contents">
        {bad.map((entry) => (
          <ToastCard key={entry.id} entry={entry} />
        ))}
      </div>
      <div role="status" className="contents">
        {others.map((entry) => (
          <ToastCard key={entry.id} entry={entry} />
        ))}
      </div>
    </div>
  );
}

const looks = {
  plain: { icon: Info, className: "text-accent" },
  ok: { icon: CircleCheck, className: "text-ok" },
  bad: { icon: CircleAlert, className: "text-bad" },
};

function ToastCard({ entry }: { entry: ShownToast }) {
  const [isHeld, setHeld] = useState(false);
  const seconds = entry.seconds === undefined ? (entry.action || entry.tone === "bad" ? 12 : 6) : entry.seconds;
  useEffect(() => {
    if (isHeld || seconds === null) return;
    const timer = setTimeout(() => dismissToast(entry.id), seconds * 1_000);
    return () => clearTimeout(timer);
  }, [entry.id, entry.version, isHeld, seconds]);
  const { icon, className } = looks[entry.tone ?? "plain"];
  return (
    <div
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className="pointer-events-auto flex w-full max-w-sm animate-rise items-center gap-3 rounded-lg bg-raised py-1.5 ps-3.5 pe-1.5 shadow-float"
    >
      <Icon of={icon} size={18} className={className} />
      <div className="min-w-0 flex-1 py-1.5">
        <p className="font-medium wrap-anywhere">{entry.title}</p>
        {entry.body && <p className="text-sm text-muted wrap-anywhere">{entry.body}</p>}
      </div>
      {entry.action && (
        <Button
          size="sm"
          onClick={() => {
            dismissToast(entry.id);
            entry.action?.run();
          }}
        >
          {entry.action.label}
        </Button>
      )}
      <IconButton size="sm" icon={X} label={t("close")} onClick={() => dismissToast(entry.id)} />
    </div>
  );
}

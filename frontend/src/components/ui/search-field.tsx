import { Search, X } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import { cx } from "@/lib/cx";
import { IconButton } from "./button";
import { t } from "./en";
import { controlClass } from "./field";
import { Icon } from "./icon";

interface SearchFieldProps {
  /** Names what is searched. */
  label: string;
  value: string;
  onChange: (value: string) => void;
  className?: string;
}

// Shorter than the time between two keys. Only the last answer counts, and an outdated request is canceled.
const settleMs = 50;

/** A search field that searches while the user types, after a short pause. */
export function SearchField({ label, value, onChange, className }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  // Values that were reported but have not come back as `value` yet, oldest first, because an address changes late.
  const [told, setTold] = useState<string[]>([]);
  const known = told.at(-1) ?? seen;
  if (value !== seen) {
    const at = told.indexOf(value);
    setSeen(value);
    setTold(at < 0 ? [] : told.slice(at + 1));
    // Set by something else, for example the back button.
    if (at < 0) setText(value);
  }
  function tell(next: string) {
    if (next !== known) setTold([...told, next]);
    onChange(next);
  }
  const settle = useEffectEvent(() => tell(text));
  useEffect(() => {
    if (text === known) return;
    const timer = setTimeout(() => settle(), settleMs);
    return () => clearTimeout(timer);
  }, [text, known]);
  return (
    <span role="search" className={cx("relative block min-w-0", className)}>
      <span className="pointer-events-none absolute inset-y-0 start-2.5 flex items-center text-muted">
        <Icon of={Search} size={15} />
      </span>
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        enterKeyHint="search"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") tell(text);
          else if (event.key === "Escape" && text !== "") {
            event.stopPropagation();
            setText("");
          }
        }}
        className={cx(controlClass, "ps-8 pe-10 [&::-webkit-search-cancel-button]:hidden")}
      />
      {text !== "" && (
        <span className="absolute inset-y-0 end-0.5 flex items-center">
          <IconButton size="sm" icon={X} label={t("clear")} onClick={() => setText("")} />
        </span>
      )}
    </span>
  );
}

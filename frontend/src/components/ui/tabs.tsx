import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { cx } from "@/lib/cx";

interface TabsProps<Name extends string> {
  label: string;
  tabs: readonly { name: Name; label: string; badge?: ReactNode }[];
  current: Name;
  onChange: (name: Name) => void;
  children: ReactNode;
}

/** Tabs of a page, with one panel shown. Arrow keys move between them. */
export function Tabs<Name extends string>({ label, tabs, current, onChange, children }: TabsProps<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  function move(event: KeyboardEvent) {
    const at = tabs.findIndex((tab) => tab.name === current);
    const isBackwards = document.documentElement.dir === "rtl" ? "ArrowRight" : "ArrowLeft";
    const isForwards = isBackwards === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const next = { [isBackwards]: at - 1, [isForwards]: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const index = (next + tabs.length) % tabs.length;
    const tab = tabs[index];
    if (tab) onChange(tab.name);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[index]?.focus();
  }
  return (
    <>
      <div ref={list} role="tablist" aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line" onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`${id}-${tab.name}`}
            aria-selected={tab.name === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab.name === current ? 0 : -1}
            onClick={() => onChange(tab.name)}
            className={cx(
              "-mb-px inline-flex h-10 items-center gap-2 border-b-2 px-3 font-medium whitespace-nowrap transition-colors -outline-offset-2 touch:h-11",
              tab.name === current ? "border-accent text-ink" : "border-transparent text-muted hover:text-ink",
            )}
          >
            {tab.label}
            {tab.badge}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`} tabIndex={0} className="pt-4 -outline-offset-2">
        {children}
      </div>
    </>
  );
}

interface SegmentsProps<Name extends string> {
  label: string;
  options: readonly { name: Name; label: string }[];
  current: Name;
  onChange: (name: Name) => void;
}

/** A choice of two to five words, all visible. */
export function Segments<Name extends string>({ label, options, current, onChange }: SegmentsProps<Name>) {
  return (
    <div role="group" aria-label={label} className="inline-flex w-fit rounded-lg border border-line bg-sunken p-0.5">
      {options.map((option) => (
        <button
          key={option.name}
          type="button"
          aria-pressed={option.name === current}
          onClick={() => onChange(option.name)}
          className={cx(
            "touch:min-w-11 h-7 min-w-8 rounded-md px-2.5 text-sm font-medium whitespace-nowrap transition-colors touch:h-11",
            option.name === current ? "bg-raised text-ink shadow-card" : "text-muted hover:text-ink",
          )}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

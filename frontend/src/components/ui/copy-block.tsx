import { Check, Copy } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { copyText } from "@/lib/clipboard";
import { cx } from "@/lib/cx";
import { Button, IconButton } from "./button";
import { t } from "./en";

/** Copies a text. If the browser refuses, the caller shows the text selected. */
function useCopy(text: string) {
  const [state, setState] = useState<"ready" | "copied" | "refused">("ready");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("ready"), 2_000);
    return () => clearTimeout(timer);
  }, [state]);
  return { state, copy: async () => setState((await copyText(text)) ? "copied" : "refused") };
}

interface CopyBlockProps {
  /** Name of the value, shown above it. */
  label: string;
  isLabelHidden?: boolean;
  value: string;
  /** Shows dots instead of the value, unless the browser refused to copy it. */
  isSecret?: boolean;
}

/** A value with a button that copies it. */
export function CopyBlock({ label, isLabelHidden = false, value, isSecret = false }: CopyBlockProps) {
  const { state, copy } = useCopy(value);
  const text = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (state === "refused" && text.current) getSelection()?.selectAllChildren(text.current);
  }, [state]);
  const isLong = value.includes("\n");
  return (
    <div className="grid min-w-0 gap-1">
      <span className={isLabelHidden ? "sr-only" : "text-sm text-muted"}>{label}</span>
      <div className={cx("flex min-w-0 gap-1 rounded-md border border-line bg-sunken ps-2.5", isLong ? "items-start" : "items-center")}>
        <pre ref={text} tabIndex={isLong ? 0 : undefined} className="min-w-0 flex-1 overflow-x-auto py-1.5 font-mono text-sm whitespace-pre-wrap wrap-anywhere">
          {isSecret && state !== "refused" ? "•".repeat(12) : value}
        </pre>
        <IconButton size="sm" className="m-0.5" icon={state === "copied" ? Check : Copy} label={`${t("copy")}: ${label}`} onClick={() => void copy()} />
      </div>
      <span role="status" className={state === "refused" ? "text-sm text-warn" : "sr-only"}>
        {state === "copied" ? t("copied") : state === "refused" ? t("copy-by-hand") : ""}
      </span>
    </div>
  );
}

/** A button that copies a text. */
export function CopyButton({ label, value, tone, size }: { label: string; value: string; tone?: "plain" | "accent" | "quiet"; size?: "sm" | "md" }) {
  const { state, copy } = useCopy(value);
  return (
    <Button tone={tone} size={size} icon={state === "copied" ? Check : Copy} onClick={() => void copy()}>
      <span aria-live="polite">{state === "copied" ? t("copied") : label}</span>
    </Button>
  );
}

import { Copy } from "lucide-react";
import { IconButton } from "@/components/ui/button";
import { copyText } from "@/lib/clipboard";
import { cx } from "@/lib/cx";
import { formatTime } from "@/lib/format";
import { toast } from "@/lib/toast";
import { t } from "../en";
import { type Level, type LogFilter, type LogLine, textOf } from "../lines";

const tones: Record<Level, string> = {
  trace: "text-muted",
  debug: "text-muted",
  information: "text-muted",
  warning: "text-warn",
  error: "text-bad",
  critical: "text-bad font-semibold",
};

const grounds: Partial<Record<Level, string>> = { warning: "bg-warn-soft/40", error: "bg-bad-soft/50", critical: "bg-bad-soft" };

/** A line of the log: time, level, source and text. Buttons show only the lines of its job or stream. */
export function Line({ line, onFilter }: { line: LogLine; onFilter: (name: LogFilter, value: string) => void }) {
  async function copy() {
    const isCopied = await copyText(textOf(line));
    toast({ id: "copy-line", tone: isCopied ? "ok" : "bad", title: isCopied ? t("copied") : t("copy-failed") });
  }
  return (
    <div className={cx("group flex items-start gap-x-3 border-b border-line/60 px-3 py-0.5 hover:bg-hover focus-within:bg-hover", grounds[line.level])}>
      <div className="grid min-w-0 flex-1 gap-x-3 py-0.5 md:grid-cols-[5.25rem_5.25rem_6.5rem_minmax(0,1fr)]">
        <span className="flex min-w-0 flex-wrap gap-x-3 md:contents">
          <time dateTime={line.at} title={line.at} className="truncate text-sm text-muted tabular-nums">
            {formatTime(line.at)}
          </time>
          <span className={cx("text-sm", tones[line.level])}>{t(`level.${line.level}`)}</span>
          <span className="truncate text-sm text-muted">{line.source}</span>
        </span>
        <span className="min-w-0 text-sm whitespace-pre-wrap wrap-anywhere">
          {line.text}
          {line.job !== null && <About name={t("only-this-job")} onPress={() => onFilter("job", line.job ?? "")} />}
          {line.stream !== null && <About name={t("only-this-stream")} onPress={() => onFilter("stream", line.stream ?? "")} />}
        </span>
      </div>
      <IconButton
        size="sm"
        icon={Copy}
        label={t("copy-line")}
        onClick={() => void copy()}
        className="h-6! opacity-0 transition-opacity group-hover:opacity-100 focus-visible:opacity-100 touch:opacity-100 touch:h-11!"
      />
    </div>
  );
}

function About({ name, onPress }: { name: string; onPress: () => void }) {
  return (
    <button type="button" onClick={onPress} className="ms-1 inline-flex min-h-6 items-center rounded-sm px-1 text-sm text-accent hover:underline touch:min-h-11">
      {name}
    </button>
  );
}

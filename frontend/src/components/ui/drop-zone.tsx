import { Upload } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { cx } from "@/lib/cx";
import { droppedFiles } from "@/lib/dropped-files";
import { Button } from "./button";
import { t } from "./en";
import { Icon } from "./icon";

interface DropZoneProps {
  /** Names what the zone accepts. */
  label: string;
  hint?: string;
  /** Called with dropped or chosen files, including those in dropped folders. */
  onFiles: (files: File[]) => void;
  isCompact?: boolean;
}

// Phones gray out unknown endings, so general types are listed too.
const accept = ".nzb,.gz,.bz2,.zip,application/x-nzb,application/xml,text/xml,application/zip,application/gzip,application/octet-stream";

/** An area to drop NZBs and folders, with a button for users who cannot drag. On phones the compact form is only the button. */
export function DropZone({ label, hint, onFiles, isCompact = false }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  async function drop(event: DragEvent) {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    onFiles(await droppedFiles(event.dataTransfer));
  }

  return (
    <div
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => void drop(event)}
      className={cx(
        "flex flex-wrap items-center justify-center gap-x-4 gap-y-2 rounded-lg border border-dashed text-center transition-colors",
        isCompact ? "px-4 py-3 max-sm:border-0 max-sm:bg-transparent max-sm:p-0" : "flex-col px-6 py-8",
        isOver ? "border-accent bg-accent-soft" : "border-line-strong bg-sunken",
      )}
    >
      <Icon of={Upload} size={isCompact ? 18 : 24} className={cx("text-muted", isCompact && "max-sm:hidden")} />
      <div className={isCompact ? "max-sm:hidden" : ""}>
        <p className="font-medium">{label}</p>
        {hint && <p className="text-sm text-muted">{hint}</p>}
      </div>
      <Button className={isCompact ? "max-sm:w-full" : ""} onClick={() => input.current?.click()}>{t("choose-files")}</Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={accept}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
    </div>
  );
}

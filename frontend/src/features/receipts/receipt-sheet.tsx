import { ButtonLink } from "@/components/ui/button";
import { Sheet } from "@/components/ui/dialog";
import { KeyValues } from "@/components/ui/key-values";
import { formatBytes, formatDateTime, formatDuration, formatNumber } from "@/lib/format";
import { t } from "./en";
import type { ReceiptRow } from "./api/receipts";

/** All that a receipt says, with links to its playback and its file. */
export function ReceiptSheet({ row, title, onClose }: { row: ReceiptRow; title: string; onClose: () => void }) {
  // Removed providers have no name, so they share a line.
  const providers = new Map<string, number>();
  for (const { name, bytes } of row.providers) {
    const shown = name ?? t("removed-provider");
    providers.set(shown, (providers.get(shown) ?? 0) + bytes);
  }
  const folder = row.file?.path.split("/").slice(0, -1).map(encodeURIComponent).join("/");
  return (
    <Sheet
      isOpen
      onClose={onClose}
      size="md"
      title={title}
      footer={
        row.file && (
          <>
            {row.open && <ButtonLink to={`/streams/${encodeURIComponent(row.id)}`}>{t("show-playback")}</ButtonLink>}
            <ButtonLink to={`/files/${folder}?file=${row.file.id}`}>{t("show-file")}</ButtonLink>
          </>
        )
      }
    >
      <KeyValues
        items={[
          { label: t("file"), value: row.file?.path },
          { label: t("started"), value: formatDateTime(row.startedAt) },
          { label: t("ended"), value: formatDateTime(row.endedAt) },
          { label: t("login"), value: row.login },
          { label: t("player"), value: row.player },
          { label: t("address"), value: row.client },
          { label: t("sent"), value: formatBytes(row.bytesSent) },
          { label: t("memory"), value: formatBytes(row.bytesFromMemory) },
          { label: t("disk"), value: formatBytes(row.bytesFromDisk) },
          ...[...providers].map(([name, bytes]) => ({ label: t("from-provider", { name }), value: formatBytes(bytes) })),
          { label: t("first-byte"), value: row.firstByteMs === null ? null : formatDuration(row.firstByteMs) },
          { label: t("seeks"), value: formatNumber(row.seeks) },
          { label: t("trouble"), value: troubleOf(row) },
          { label: t("longest-wait"), value: row.waits === 0 ? null : formatDuration(row.longestWaitMs) },
        ]}
      />
    </Sheet>
  );
}

/** Gaps and waits of a playback in words. */
export function troubleOf({ gaps, waits, waitedMs }: ReceiptRow): string {
  const all = [...(gaps > 0 ? [t("gaps", { count: gaps })] : []), ...(waits > 0 ? [t("waits", { count: waits, time: formatDuration(waitedMs) })] : [])];
  return all.length === 0 ? t("fine") : all.join(" · ");
}

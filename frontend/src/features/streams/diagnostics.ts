import type { Schema } from "@/lib/api-client";
import { runsOf } from "./cells";
import { texts } from "./en";

/** Formats all details of a playback as plain text for a bug report, in English and plain units for every language. */
export function diagnosticsOf(stream: Schema<"StreamDetail">, version: string): string {
  const { item, map, articles, seeks, wait } = stream;
  return [
    `Sluice ${version}, stream ${item.id}`,
    `file: ${item.file.path} (${item.file.bytes} bytes, id ${item.file.id})`,
    `client: ${item.player === "" ? "unknown" : item.player} at ${item.client}`,
    `state: ${item.state}, started ${item.startedAt}, last read ${item.lastReadAt}`,
    `position: ${item.position} (${percent(item.position, item.file.bytes)} %), ahead ${item.aheadBytes} bytes`,
    `sent: ${item.bytesSent} bytes, now ${item.bytesPerSecond} bytes/s, first byte ${ms(item.firstByteMs)}`,
    `wait: ${wait.reason}${wait.value === null ? "" : ` (${round(wait.value)} ${wait.unit ?? ""})`} since ${wait.since}: ${texts[`wait.${wait.reason}.sentence`]}`,
    `requests: ${stream.requests}, asked for again: ${stream.retries}, seeks: ${item.seeks}`,
    `map: ${map.memoryBytes} bytes in memory, ${map.diskBytes} on disk, ${map.inFlight} articles on the way, ${map.missing} missing`,
    ...runsOf(map.cells).filter((run) => run.kind !== "-").map((run) => `  ${round(100 * run.from)}-${round(100 * run.to)} %: ${texts[`cell.${run.kind}`]}`),
    `on the way: ${articles.length}`,
    ...articles.map((one) => `  ${one.provider} at ${one.offset}: ${one.bytes} bytes in ${ms(one.ms)}, ${one.state}`),
    `last seeks: ${seeks.length}`,
    ...seeks.map((seek) => `  ${seek.at} to ${seek.offset} (${percent(seek.offset, item.file.bytes)} %): ${ms(seek.firstByteMs)}`),
    `bytes of the last seconds: ${stream.rates.join(" ")}`,
    "",
  ].join("\n");
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

function percent(part: number, whole: number): number {
  return whole > 0 ? round((100 * part) / whole) : 0;
}

function ms(value: number | null): string {
  return value === null ? "none yet" : `${round(value)} ms`;
}

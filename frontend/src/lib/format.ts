import { dateFormat, numberFormat, relativeFormat } from "./i18n/intl";
import { preference } from "./preference";

/** Whether rates are shown in bytes or in bits. */
export const rateUnit = preference("rate-unit", ["bytes", "bits"]);

const byteUnits = ["kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;
const bitUnits = ["kilobit", "megabit", "gigabit", "terabit"] as const;

/** Formats a number with the separators of the user's language. */
export function formatNumber(value: number, fractionDigits = 0): string {
  return numberFormat({ maximumFractionDigits: fractionDigits }).format(value);
}

/** Formats a size, as in "4.2 GB". */
export function formatBytes(bytes: number): string {
  return bytes < 1_000 ? numberFormat({ style: "unit", unit: "byte", unitDisplay: "long" }).format(bytes) : scaled(bytes, byteUnits, "");
}

/** Formats a rate in bytes per second, as in "84 MB/s", or "672 Mb/s" if the user prefers bits. */
export function formatRate(bytesPerSecond: number): string {
  return rateUnit.get() === "bits" ? scaled(bytesPerSecond * 8, bitUnits, "-per-second") : scaled(bytesPerSecond, byteUnits, "-per-second");
}

/** Formats a percentage from 0 to 100, as in "42 %". */
export function formatPercent(percent: number, fractionDigits = 0): string {
  return numberFormat({ style: "percent", maximumFractionDigits: fractionDigits }).format(percent / 100);
}

/** Formats a duration in ms: "340 ms", "2.4 s", "3 min 5 s", "2 h 10 min", "4 d 3 h". */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return unit(Math.round(ms), "millisecond");
  const seconds = ms / 1_000;
  if (seconds < 60) return unit(seconds, "second", seconds < 10 ? 1 : 0);
  const whole = Math.round(seconds);
  if (whole < 3_600) return pair(Math.floor(whole / 60), "minute", whole % 60, "second");
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return pair(Math.floor(minutes / 60), "hour", minutes % 60, "minute");
  const hours = Math.round(seconds / 3_600);
  return pair(Math.floor(hours / 24), "day", hours % 24, "hour");
}

/** Formats a position in a film, as in "1:04:09" or "12:41". */
export function formatPosition(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}

/** Formats a date and time, as in "28 Nov 2026, 14:05". */
export function formatDateTime(at: string | Date): string {
  return dateFormat({ dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
}

/** Formats a day without a time zone, as in "28 November", from "2026-11-28". */
export function formatDay(day: string): string {
  return dateFormat({ day: "numeric", month: "long", timeZone: "UTC" }).format(new Date(day));
}

/** Formats a time of day with seconds. */
export function formatTime(at: string | Date): string {
  return dateFormat({ timeStyle: "medium" }).format(new Date(at));
}

/** Formats a tick of a time axis: the day if `ticks` (in seconds) are a day apart, else the time, without AM or PM if they are close. */
export function formatClock(at: number, ticks: readonly number[]): string {
  const distance = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  if (distance >= 86_400) return dateFormat({ day: "numeric", month: "short" }).format(at);
  const time = dateFormat({ hour: "numeric", minute: "2-digit" });
  if (distance >= 1_800) return time.format(at);
  return time
    .formatToParts(at)
    .filter(({ type }) => type !== "dayPeriod")
    .map(({ value }) => value)
    .join("")
    .trim();
}

/** Formats the time since a moment, as in "5 minutes ago". */
export function formatAgo(at: string | Date, now = Date.now()): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1_000);
  const relative = relativeFormat();
  const steps = [["day", 86_400, 3_600], ["hour", 3_600, 60], ["minute", 60, 1]] as const;
  // Rounded values of the smaller unit decide, so that 59.6 minutes are an hour and not 60 minutes.
  const step = steps.find(([, length, smaller]) => Math.round(Math.abs(seconds) / smaller) * smaller >= length);
  return step ? relative.format(Math.round(seconds / step[1]), step[0]) : relative.format(seconds, "second");
}

function scaled(value: number, units: readonly string[], per: string): string {
  const step = value < 1_000 ? 0 : Math.min(Math.floor(Math.log10(value) / 3) - 1, units.length - 1);
  const number = value / 1_000 ** (step + 1);
  return unit(number, `${units[step]}${per}`, number < 10 ? 1 : 0);
}

function pair(first: number, firstUnit: string, second: number, secondUnit: string): string {
  return second === 0 ? unit(first, firstUnit) : `${unit(first, firstUnit)} ${unit(second, secondUnit)}`;
}

function unit(value: number, name: string, fractionDigits = 0): string {
  return numberFormat({ style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: fractionDigits }).format(value);
}

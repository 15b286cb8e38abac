import * as z from "zod/mini";
import type { ProviderRow, ProviderSave } from "./api/providers";
import { t } from "./en";
import { knownProvider } from "./known-providers";

export const tlsPort = 563;
export const plainPort = 119;
export const mostConnections = 100;
const usualConnections = 20;
const gigabyte = 1e9;

/** The values of the form. */
export interface ProviderDraft {
  host: string;
  port: string;
  tls: boolean;
  user: string;
  password: string;
  maxConnections: number;
  name: string;
  use: ProviderRow["use"];
  priority: string;
  backbone: string;
  skipsCertificateCheck: boolean;
  cap: "none" | "monthly" | "block";
  /** In GB, like `usedBefore`. */
  byteLimit: string;
  resetDay: string;
  reservePercent: string;
  /** Empty, or unchanged since the form was opened, to keep the count of the server. */
  usedBefore: string;
}

export type DraftErrors = Partial<Record<keyof ProviderDraft, string>>;

/** Returns the form of a saved provider; null starts a new one. */
export function draftOf(row: ProviderRow | null): ProviderDraft {
  const quota = row?.quota ?? null;
  return {
    host: row?.host ?? "",
    port: String(row?.port ?? tlsPort),
    tls: row?.tls ?? true,
    user: row?.user ?? "",
    password: "",
    maxConnections: row?.connections.max ?? usualConnections,
    name: row && row.name !== row.host ? row.name : "",
    use: row?.use ?? "primary",
    priority: String(row?.priority ?? 0),
    backbone: row?.backbone ?? "",
    skipsCertificateCheck: row?.skipsCertificateCheck ?? false,
    cap: quota === null ? "none" : quota.resetDay === 0 ? "block" : "monthly",
    byteLimit: quota === null ? "" : sizeOf(quota.byteLimit),
    resetDay: String(quota?.resetDay || 1),
    reservePercent: quota === null ? "" : String(quota.reservePercent),
    usedBefore: quota === null ? "" : sizeOf(quota.used),
  };
}

/** Returns the bytes of a size in GB, as in "1.5"; null if it is none. */
export function bytesOf(size: string): number | null {
  const text = size.trim().replace(",", ".");
  return /^\d{1,9}(\.\d+)?$/.test(text) ? Math.round(Number(text) * gigabyte) : null;
}

/** Returns a size in GB with at most three digits after the point. */
function sizeOf(bytes: number): string {
  return String(Math.round(bytes / (gigabyte / 1_000)) / 1_000);
}

const whole = (low: number, high: number, message: string) =>
  z.string().check(z.refine((text) => /^\d+$/.test(text) && Number(text) >= low && Number(text) <= high, { error: message }));

/** Returns the errors of a form by field; empty if it can be sent. */
export function errorsOf(draft: ProviderDraft, row: ProviderRow | null): DraftErrors {
  const schema = z.object({
    host: z.string().check(
      z.refine((text) => text.trim() !== "", { error: t("need-host"), abort: true }),
      z.refine((text) => !/[\s/]/.test(text.trim()), { error: t("bad-host") }),
    ),
    port: whole(1, 65_535, t("bad-port")),
    priority: whole(0, 99, t("bad-priority")),
    ...(draft.cap !== "none" && {
      byteLimit: z.string().check(z.refine((text) => (bytesOf(text) ?? 0) > 0, { error: t("bad-size") })),
      reservePercent: z.string().check(z.refine((text) => text === "" || (/^\d+$/.test(text) && Number(text) <= 90), { error: t("bad-reserve") })),
      usedBefore: z.string().check(z.refine((text) => text.trim() === "" || bytesOf(text) !== null, { error: t("bad-size") })),
    }),
    ...(draft.cap === "monthly" && { resetDay: whole(1, 28, t("bad-reset-day")) }),
  });
  const errors: DraftErrors = {};
  for (const issue of schema.safeParse(draft).error?.issues ?? []) errors[issue.path[0] as keyof ProviderDraft] ??= issue.message;
  if (draft.user !== "" && draft.password === "" && !keepsPassword(draft, row)) errors.password = t("need-password");
  return errors;
}

/** Whether the saved password can be used again: only for the server that it was saved for. */
function keepsPassword(draft: ProviderDraft, row: ProviderRow | null): boolean {
  return row !== null && row.hasPassword && row.host === draft.host.trim() && String(row.port) === draft.port && row.tls === draft.tls;
}

/** Converts the form for saving. A known server gets its usual name unless another one is entered. */
export function saveOf(draft: ProviderDraft, row: ProviderRow | null = null): ProviderSave {
  const host = draft.host.trim();
  return {
    host,
    port: Number(draft.port),
    tls: draft.tls,
    user: draft.user.trim(),
    password: draft.password === "" ? null : draft.password,
    maxConnections: draft.maxConnections,
    name: draft.name.trim() || knownProvider(host)?.name || null,
    use: draft.use,
    priority: Number(draft.priority),
    backbone: draft.backbone.trim() || null,
    skipsCertificateCheck: draft.skipsCertificateCheck,
    quota: quotaOf(draft, row),
  };
}

function quotaOf(draft: ProviderDraft, row: ProviderRow | null): ProviderSave["quota"] {
  if (draft.cap === "none") return { byteLimit: 0, resetDay: 0 };
  return {
    byteLimit: bytesOf(draft.byteLimit) ?? 0,
    resetDay: draft.cap === "monthly" ? Number(draft.resetDay) : 0,
    reservePercent: draft.reservePercent === "" ? null : Number(draft.reservePercent),
    usedBefore: draft.usedBefore === draftOf(row).usedBefore ? null : bytesOf(draft.usedBefore),
  };
}

import * as z from "zod/mini";
import type { ProviderRow, ProviderSave } from "./api/providers";
import { t } from "./en";
import { knownProvider } from "./known-providers";

export const tlsPort = 563;
export const plainPort = 119;
export const mostConnections = 100;
const usualConnections = 20;

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
}

/** Returns the form of a saved provider; null starts a new one. */
export function draftOf(row: ProviderRow | null): ProviderDraft {
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
  };
}

const whole = (low: number, high: number, message: string) =>
  z.string().check(z.refine((text) => /^\d+$/.test(text) && Number(text) >= low && Number(text) <= high, { error: message }));

/** Returns the errors of a form by field; empty if it can be sent. */
export function errorsOf(draft: ProviderDraft, row: ProviderRow | null): Partial<Record<keyof ProviderDraft, string>> {
  const schema = z.object({
    host: z.string().check(
      z.refine((text) => text.trim() !== "", { error: t("need-host"), abort: true }),
      z.refine((text) => !/[\s/]/.test(text.trim()), { error: t("bad-host") }),
    ),
    port: whole(1, 65_535, t("bad-port")),
    priority: whole(0, 99, t("bad-priority")),
  });
  const errors: Partial<Record<keyof ProviderDraft, string>> = {};
  for (const issue of schema.safeParse(draft).error?.issues ?? []) errors[issue.path[0] as keyof ProviderDraft] ??= issue.message;
  if (draft.user !== "" && draft.password === "" && !keepsPassword(draft, row)) errors.password = t("need-password");
  return errors;
}

/** Whether the saved password can be used again: only for the server that it was saved for. */
function keepsPassword(draft: ProviderDraft, row: ProviderRow | null): boolean {
  return row !== null && row.hasPassword && row.host === draft.host.trim() && String(row.port) === draft.port && row.tls === draft.tls;
}

/** Converts the form for saving. A known server gets its usual name unless another one is entered. */
export function saveOf(draft: ProviderDraft): ProviderSave {
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
  };
}

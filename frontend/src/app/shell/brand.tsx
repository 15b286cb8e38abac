import { t } from "../en";

/** The logo and the name. */
export function Brand() {
  return (
    <span className="inline-flex items-center gap-2.5 text-lg font-semibold tracking-tight">
      <svg aria-hidden width="26" height="26" viewBox="0 0 32 32" fill="none" strokeLinecap="round">
        <rect width="32" height="32" rx="9" fill="var(--accent-fill)" />
        <path d="M8.5 8v16M23.5 8v16" stroke="var(--accent-ink)" strokeWidth="3" />
        <path d="M12.5 13.3c2.3-1.8 4.7 1.8 7 0M12.5 19.3c2.3-1.8 4.7 1.8 7 0" stroke="var(--accent-ink)" strokeWidth="2.4" />
      </svg>
      {t("product")}
    </span>
  );
}

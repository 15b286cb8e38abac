import { Search } from "lucide-react";
import { IconButton } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { late } from "@/components/ui/late";
import { usePageHeading } from "@/lib/page-title";
import { t } from "../en";
import { ThemeMenu, UserMenu } from "./user-menu";

const LivePill = late(async () => (await import("./live-pill")).LivePill, { pending: () => <span className="w-8 sm:w-40" /> });

/** The title of the page, the search and the live figures. */
export function TopBar({ onSearch }: { onSearch: () => void }) {
  const heading = usePageHeading();
  return (
    <header className="sticky top-0 z-20 flex h-(--bar) items-center gap-2 border-b border-line bg-surface px-4 lg:px-8">
      <h1 tabIndex={-1} className="me-auto min-w-0 truncate text-lg font-semibold tracking-tight">
        {heading}
      </h1>
      <button
        type="button"
        onClick={onSearch}
        className="hidden h-8 w-60 items-center gap-2 rounded-md border border-line bg-sunken px-2.5 text-sm text-muted transition-colors hover:border-line-strong hover:text-ink md:flex touch:h-11"
      >
        <Icon of={Search} size={15} />
        <span className="me-auto truncate">{t("search-hint")}</span>
        <kbd aria-hidden className="rounded-sm border border-line px-1 font-mono text-xs">
          {"/"}
        </kbd>
      </button>
      <IconButton icon={Search} label={t("search")} onClick={onSearch} className="md:hidden" />
      <LivePill />
      <span className="hidden items-center lg:inline-flex">
        <ThemeMenu />
        <UserMenu />
      </span>
    </header>
  );
}

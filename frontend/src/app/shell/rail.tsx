import { NavLink } from "react-router";
import { Icon } from "@/components/ui/icon";
import { late } from "@/components/ui/late";
import { cx } from "@/lib/cx";
import { t } from "../en";
import { Brand } from "./brand";
import { pages } from "./pages";

const HistoryBadge = late(async () => (await import("./history-badge")).HistoryBadge);

/** The navigation at the side of wide windows. */
export function Rail({ version }: { version: string }) {
  return (
    <nav
      aria-label={t("navigation")}
      className="fixed inset-y-0 start-0 z-30 hidden w-(--rail) flex-col border-e border-line bg-surface lg:flex"
    >
      <div className="flex h-(--bar) items-center px-5">
        <Brand />
      </div>
      <ul className="grid flex-1 content-start gap-0.5 overflow-y-auto px-3 py-3">
        {pages.map((page) => (
          <li key={page.name}>
            <NavLink
              to={page.path}
              end={page.path === "/"}
              className={({ isActive }) =>
                cx(
                  "flex min-h-9 items-center gap-3 rounded-md px-2.5 font-medium transition-colors touch:min-h-11",
                  isActive ? "bg-accent-soft text-accent" : "text-muted hover:bg-hover hover:text-ink",
                )
              }
            >
              <Icon of={page.icon} size={18} />
              {t(page.name)}
              {page.name === "history" && <HistoryBadge className="ms-auto min-w-5" />}
            </NavLink>
          </li>
        ))}
      </ul>
      <p className="px-5 py-4 text-xs text-muted tabular-nums">
        {t("product")} {version}
      </p>
    </nav>
  );
}

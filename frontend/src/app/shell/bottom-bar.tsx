import { Ellipsis } from "lucide-react";
import { NavLink, useNavigate } from "react-router";
import { Icon } from "@/components/ui/icon";
import { late } from "@/components/ui/late";
import { Menu } from "@/components/ui/menu";
import { cx } from "@/lib/cx";
import { t } from "../en";
import { menuItems } from "./menu-items";
import { pages } from "./pages";

const HistoryBadge = late(async () => (await import("./history-badge")).HistoryBadge);

const entry = "flex h-15 w-full min-w-0 flex-col items-center justify-center gap-1 text-xs font-medium -outline-offset-2 transition-colors";

/** The navigation at the lower edge of phones and other narrow windows: five pages, and a menu for the others. */
export function BottomBar() {
  const navigate = useNavigate();
  const others = pages.filter((page) => !page.isInBar);
  return (
    <nav
      aria-label={t("navigation")}
      className="fixed inset-x-0 bottom-0 z-30 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] lg:hidden"
    >
      <ul className="mx-auto grid max-w-xl grid-cols-6">
        {pages
          .filter((page) => page.isInBar)
          .map((page) => (
            <li key={page.name} className="min-w-0">
              <NavLink
                to={page.path}
                end={page.path === "/"}
                className={({ isActive }) => cx(entry, isActive ? "text-accent" : "text-muted")}
              >
                <span className="relative">
                  <Icon of={page.icon} size={20} />
                  {page.name === "history" && <HistoryBadge className="absolute -end-4 -top-1.5 min-w-5" />}
                </span>
                <span className="max-w-full truncate">{t(page.name)}</span>
              </NavLink>
            </li>
          ))}
        <li className="grid min-w-0 [&>span]:w-full">
          <Menu
            label={t("more")}
            items={async () => {
              const { themeItems, userItems } = await menuItems.get();
              const pageItems = others.map((page) => ({ label: t(page.name), icon: page.icon, onSelect: () => void navigate(page.path) }));
              return [...pageItems, ...themeItems(), ...userItems(navigate)];
            }}
            trigger={(wiring) => (
              <button type="button" {...wiring} className={cx(entry, "text-muted")}>
                <Icon of={Ellipsis} size={20} />
                <span className="max-w-full truncate">{t("more")}</span>
              </button>
            )}
          />
        </li>
      </ul>
    </nav>
  );
}

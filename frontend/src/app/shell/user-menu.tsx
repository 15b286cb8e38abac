import { useQuery } from "@tanstack/react-query";
import { CircleUser, SunMoon } from "lucide-react";
import { useNavigate } from "react-router";
import { IconButton } from "@/components/ui/button";
import { Menu } from "@/components/ui/menu";
import { sessionQuery } from "@/lib/session";
import { t } from "../en";
import { menuItems } from "./menu-items";

/** The menu of the logged-in user. */
export function UserMenu() {
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  const label = t("logged-in-as", { user: session?.user ?? "" });
  return (
    <Menu
      label={label}
      items={async () => (await menuItems.get()).userItems(navigate)}
      trigger={(wiring) => <IconButton icon={CircleUser} label={label} {...wiring} />}
    />
  );
}

/** The menu of themes. */
export function ThemeMenu() {
  return (
    <Menu
      label={t("theme")}
      items={async () => (await menuItems.get()).themeItems()}
      trigger={(wiring) => <IconButton icon={SunMoon} label={t("theme")} {...wiring} />}
    />
  );
}

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleUser, Keyboard, LogOut, Monitor, Moon, Sun } from "lucide-react";
import { useNavigate } from "react-router";
import { IconButton } from "@/components/ui/button";
import { Menu, type MenuItem } from "@/components/ui/menu";
import { toast } from "@/components/ui/toast";
import { api } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { usePreference } from "@/lib/preference";
import { sessionQuery } from "@/lib/session";
import { theme } from "@/lib/theme";
import { t } from "../en";
import { openShortcuts } from "./shortcuts-dialog-state";

const themes = [
  { name: "auto", icon: Monitor },
  { name: "dark", icon: Moon },
  { name: "light", icon: Sun },
] as const;

/** Theme, keys and the end of the session, for the menus that have them. */
export function useUserItems(): () => MenuItem[] {
  const [chosen, choose] = usePreference(theme);
  const navigate = useNavigate();
  const client = useQueryClient();

  async function logOut() {
    try {
      await api.DELETE("/api/session");
      await navigate("/login");
      client.clear();
    } catch (error) {
      toast({ tone: "bad", title: ApiProblem.from(error).title });
    }
  }

  return () => [
    ...themes.map(({ name, icon }, index) => ({
      label: t(`theme-${name}`),
      icon,
      isChosen: chosen === name,
      startsGroup: index === 0,
      onSelect: () => choose(name),
    })),
    { label: t("shortcuts"), icon: Keyboard, startsGroup: true, onSelect: openShortcuts },
    { label: t("log-out"), icon: LogOut, onSelect: () => void logOut() },
  ];
}

/** The menu of who is logged in. */
export function UserMenu() {
  const items = useUserItems();
  const { data: session } = useQuery(sessionQuery);
  const label = t("logged-in-as", { user: session?.user ?? "" });
  return <Menu label={label} items={() => items().slice(themes.length)} trigger={(wiring) => <IconButton icon={CircleUser} label={label} {...wiring} />} />;
}

/** The choice of the theme. */
export function ThemeMenu() {
  const items = useUserItems();
  const [chosen] = usePreference(theme);
  const icon = themes.find(({ name }) => name === chosen)?.icon ?? Monitor;
  return <Menu label={t("theme")} items={() => items().slice(0, themes.length)} trigger={(wiring) => <IconButton icon={icon} label={t("theme")} {...wiring} />} />;
}

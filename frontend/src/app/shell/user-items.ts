import { Keyboard, LogOut, Monitor, Moon, Sun } from "lucide-react";
import type { NavigateFunction } from "react-router";
import type { MenuItem } from "@/components/ui/menu-item";
import { logOut } from "@/lib/log-out";
import { theme } from "@/lib/theme";
import { t } from "../en";
import { openShortcuts } from "./shortcuts-dialog-state";

const icons = { auto: Monitor, dark: Moon, light: Sun };

/** Returns the themes, with the current one ticked. */
export function themeItems(): MenuItem[] {
  return (["auto", "dark", "light"] as const).map((name, index) => ({
    label: t(`theme-${name}`),
    icon: icons[name],
    isChosen: theme.get() === name,
    startsGroup: index === 0,
    onSelect: () => theme.set(name),
  }));
}

/** Returns the entries for shortcuts and logging out. */
export function userItems(navigate: NavigateFunction): MenuItem[] {
  return [
    { label: t("shortcuts"), icon: Keyboard, startsGroup: true, onSelect: openShortcuts },
    { label: t("log-out"), icon: LogOut, onSelect: () => void logOut(navigate) },
  ];
}

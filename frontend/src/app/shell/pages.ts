import { FolderOpen, History, House, ListOrdered, ScrollText, Settings } from "lucide-react";

/** The pages of the navigation, in order. `g` and then `key` opens a page; `isInBar` shows it in the bar of phones. */
export const pages = [
  { name: "home", path: "/", icon: House, key: "o", isInBar: true },
  { name: "files", path: "/files", icon: FolderOpen, key: "f", isInBar: true },
  { name: "queue", path: "/queue", icon: ListOrdered, key: "q", isInBar: true },
  { name: "history", path: "/history", icon: History, key: "h", isInBar: true },
  { name: "logs", path: "/logs", icon: ScrollText, key: "l", isInBar: false },
  { name: "settings", path: "/settings", icon: Settings, key: "s", isInBar: true },
] as const;

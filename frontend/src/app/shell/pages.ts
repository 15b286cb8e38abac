import { FolderOpen, History, House, ListOrdered, ScrollText, Settings } from "lucide-react";

/** The pages of the rail, in their order. `key` goes there behind `g`; those with `isInBar` stand in the bar of phones. */
export const pages = [
  { name: "home", path: "/", icon: House, key: "o", isInBar: true },
  { name: "files", path: "/files", icon: FolderOpen, key: "f", isInBar: true },
  { name: "queue", path: "/queue", icon: ListOrdered, key: "q", isInBar: true },
  { name: "history", path: "/history", icon: History, key: "h", isInBar: true },
  { name: "logs", path: "/logs", icon: ScrollText, key: "l", isInBar: false },
  { name: "settings", path: "/settings", icon: Settings, key: "s", isInBar: true },
] as const;

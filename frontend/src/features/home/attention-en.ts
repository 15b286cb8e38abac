import { createTexts } from "@/lib/i18n/texts";

/** The texts of problems, which most visits never load. */
export const t = createTexts({
  attention: "Needs attention",
  times: { one: "{count} time", other: "{count} times" },
  "level.error": "Error",
  "level.warning": "Warning",
  "kind.no-provider": "No provider",
  "kind.provider-fails": "Provider",
  "kind.storage": "Storage",
  "kind.safe-mode": "Safe mode",
  "kind.secret-key": "Key file",
  "kind.open-tree": "No password needed",
  "kind.arr": "Connected app",
  "kind.watch-folder": "Watch folder",
  "kind.setting": "Setting",
  "kind.log": "Log",
  "way.no-provider": "Add provider",
  "way.provider-fails": "Open providers",
  "way.storage": "Open system",
  "way.safe-mode": "Open the log",
  "way.secret-key": "Open settings",
  "way.open-tree": "Change access",
  "way.arr": "Open apps",
  "way.watch-folder": "Change the folder",
  "way.setting": "Open the setting",
  "way.log": "Open the log",
});

import { createTexts } from "@/lib/i18n/texts";

export const t = createTexts({
  "no-rescue": "The server isn't in safe mode",
  "no-rescue-body": "Everything works as usual.",
  "to-overview": "Go to Home",
  code: "Code",
  "code-help": "You'll find it in the log and in the file rescue-code in the data folder.",
  "need-code": "Enter the code.",
  go: "Show backups",
  "choose": "Choose a backup",
  none: "No backups",
  "none-body": "Put an intact copy of sluice.db in the data folder and restart. The log has the details.",
  passphrase: "Backup passphrase",
  "passphrase-help": "Unlocks the saved passwords. You can also restore without it and enter them again.",
  requeue: "Re-import NZBs added after this backup",
  restore: "Restore",
  "restore-help": "Sluice restarts. The current database is kept for seven days.",
  restarting: "Restarting from the backup. This page will reload automatically.",
});

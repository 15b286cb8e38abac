import { createTexts } from "@/lib/i18n/texts";

export const t = createTexts({
  "no-rescue": "The server is not in safe mode",
  "no-rescue-body": "Everything works as usual.",
  "to-overview": "To the overview",
  code: "Code",
  "code-help": "It is in the log of this start, and in the file rescue-code in the data folder.",
  "need-code": "Enter the code.",
  go: "Show the backups",
  "choose": "Choose a backup",
  none: "There is no backup",
  "none-body": "Put a sound copy of sluice.db into the data folder and restart. The log says more.",
  passphrase: "Passphrase of the backup",
  "passphrase-help": "Unlocks the saved passwords. You can also restore without it and enter them again.",
  requeue: "Import the NZBs that came after it again",
  restore: "Restore",
  "restore-help": "Sluice restarts. The present database is kept for seven days.",
  restarting: "Restarting with the backup. This page reloads by itself.",
});

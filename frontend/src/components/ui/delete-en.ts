import { createTexts } from "@/lib/i18n/texts";

export const t = createTexts({
  cancel: "Cancel",
  checking: "Checking what would be deleted…",
  nothing: "There's nothing to delete.",
  "no-files": { one: "The files are already gone. Only the history entry is left.", other: "The files are already gone. Only {count} history entries are left." },
  impact: { one: "{count} file, {size}.", other: "{count} files, {size}." },
  kept: "You can restore everything for 7 days in Files › Removed.",
  playing: { one: "Someone is watching one of these files. Playback will stop.", other: "{count} people are watching these files. Playback will stop." },
  "played-by": "{name} ({player})",
  imported: { one: "{name} imported it and will report it as missing.", other: "{name} imported {count} of these releases and will report them as missing." },
  "imported-of": {
    one: "{name} imported one of the {asked} newest releases and will report it as missing.",
    other: "{name} imported {count} of the {asked} newest releases and will report them as missing.",
  },
  "not-asked": "Couldn't check with {name}: {failure}",
  deleted: { one: "{count} file deleted", other: "{count} files deleted" },
  undo: "Undo",
  "undo-failed": "Couldn't undo",
});

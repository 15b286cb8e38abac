import { createTexts } from "@/lib/i18n/texts";

export const t = createTexts({
  title: "Search",
  hint: "Pages, files, jobs and settings",
  results: "Results",
  "group.pages": "Pages",
  "group.files": "Files",
  "group.queue": "Queue",
  "group.history": "History",
  "group.settings": "Settings",
  "count": { one: "{count} result", other: "{count} results" },
  searching: "Searching…",
  none: "Nothing matches “{query}”",
  "none-help": "Words may come in any order, and parts of words are enough.",
  failed: "Files and jobs cannot be searched: {reason}",
  keys: "Arrows choose, Enter opens, Esc closes",
  "place.setup": "Setup",
  "place.providers": "Usenet providers",
  "place.apps": "Connect Sonarr, Radarr, Plex and others",
  "place.account": "Login, password and keys for scripts",
  "place.system": "Version, saved sets, export and import",
  in: "in {folder}",
});

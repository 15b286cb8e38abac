import { createTexts } from "@/lib/i18n/texts";

/** The texts of the first steps, which most visits never load. */
export const t = createTexts({
  "add-one": "Add one",
  "first-steps": "First steps",
  "steps-done": "{done} of 3 done",
  "step-done": "Done:",
  "step-open": "To do:",
  "step-provider": "Add your Usenet provider",
  "step-provider-help": "Host, user and password are all it takes.",
  "step-play": "Play a film",
  "step-play-help": "The built-in clip shows that streaming works, even without a provider.",
  "play-clip": "Play the clip",
  "step-app": "Connect an app",
  "step-app-help": "Sonarr, Radarr, Plex, Jellyfin, rclone, VLC: each with what to enter.",
  "connect-app": "Show how",
});

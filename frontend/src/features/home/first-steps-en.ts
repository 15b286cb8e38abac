import { createTexts } from "@/lib/i18n/texts";

/** Texts of the first steps, in a file of their own because most visits never load them. */
export const t = createTexts({
  "add-one": "Add provider",
  "first-steps": "First steps",
  "steps-done": "{done} of 3 done",
  "step-done": "Done:",
  "step-open": "To do:",
  "step-provider": "Add your Usenet provider",
  "step-provider-help": "You only need the server name, username and password.",
  "step-play": "Play a film",
  "step-play-help": "The built-in clip plays even without a provider.",
  "play-clip": "Play the clip",
  "step-app": "Connect an app",
  "step-app-help": "Sonarr, Radarr, Plex, Jellyfin, rclone, VLC: everything is filled in for you.",
  "connect-app": "Connect",
});

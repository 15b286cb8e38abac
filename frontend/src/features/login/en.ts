import { createTexts } from "@/lib/i18n/texts";

export const t = createTexts({
  user: "User",
  password: "Password",
  "need-user": "Enter your user name.",
  "need-password": "Enter your password.",
  "log-in": "Log in",
  "try-in": { one: "Too many wrong attempts. Try again in {count} second.", other: "Too many wrong attempts. Try again in {count} seconds." },
  wrong: "User or password is wrong. Mind capital letters.",
  forgot: "Forgot it?",
  "forgot-why": "Whoever can change how the server is started may make a new login. Films, settings and keys stay.",
  "forgot-1": "1. Start the server once with this variable. In a compose file:",
  "forgot-shell": "Or in a shell:",
  "forgot-2": "2. Open the setup with the link and the new code that the log shows, and make a login.",
  "forgot-3": "3. Take the variable away again.",
  "forgot-label": "Lines for the compose file",
  "forgot-shell-label": "Command",
});

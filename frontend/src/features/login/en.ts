import { createTexts } from "@/lib/i18n/texts";

export const t = createTexts({
  user: "Username",
  password: "Password",
  "need-user": "Enter your username.",
  "need-password": "Enter your password.",
  "log-in": "Log in",
  "try-in": { one: "Too many wrong attempts. Try again in {count} second.", other: "Too many wrong attempts. Try again in {count} seconds." },
  wrong: "Wrong username or password.",
  forgot: "Forgot it?",
  "forgot-why": "If you can restart the server, you can reset the login. Your films, settings and keys are kept.",
  "forgot-1": "1. Start the server once with this variable. In a compose file:",
  "forgot-shell": "Or in a shell:",
  "forgot-2": "2. Open the setup link from the log and create a new login.",
  "forgot-3": "3. Remove the variable.",
  "forgot-label": "Lines for the compose file",
  "forgot-shell-label": "Command",
});

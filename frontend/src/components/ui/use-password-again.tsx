import { type ReactNode, useState } from "react";
import type { ApiProblem } from "@/lib/api-problem";
import { t } from "./en";
import { PasswordField } from "./text-field";

interface PasswordAgain {
  /** Sent along with the next call. */
  body: { password?: string };
  /** The password field, after a call was refused without the password. */
  field: ReactNode;
  /** Handles a refusal about the password by showing the field or its error; returns false for any other problem. */
  takes: (problem: ApiProblem) => boolean;
}

/** Asks for the administrator's password again if the server requires it before it creates a credential. */
export function usePasswordAgain(): PasswordAgain {
  const [password, setPassword] = useState<string | null>(null);
  const [error, setError] = useState<string | undefined>();
  return {
    body: password === null ? {} : { password },
    field: password !== null && (
      <PasswordField
        label={t("password-again")}
        help={t("password-again-help")}
        autoComplete="current-password"
        autoFocus
        value={password}
        error={error}
        onChange={(event) => setPassword(event.target.value)}
      />
    ),
    takes: (problem) => {
      const isAsked = problem.type === "password-needed";
      const wrong = problem.field("password");
      if (isAsked) setPassword("");
      setError(wrong);
      return isAsked || wrong !== undefined;
    },
  };
}

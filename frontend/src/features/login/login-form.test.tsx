import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { LoginForm } from "./login-form";

async function logIn(answer: Response | object) {
  const calls = mockApi({ "POST /api/session": answer });
  const onLogin = vi.fn();
  renderAt("/login", <LoginForm onLogin={onLogin} />);
  await userEvent.type(screen.getByLabelText("Username"), "admin");
  await userEvent.type(screen.getByLabelText("Password"), "secret-enough");
  await userEvent.click(screen.getByRole("button", { name: "Log in" }));
  return { calls, onLogin };
}

describe("the login", () => {
  it("continues with the session", async () => {
    const { calls, onLogin } = await logIn({ user: "admin" });
    await waitFor(() => expect(onLogin).toHaveBeenCalledOnce());
    expect(await calls[0]?.json()).toEqual({ user: "admin", password: "secret-enough" });
  });

  it("says that username or password is wrong and keeps the focus in the password", async () => {
    const { onLogin } = await logIn(problem(401, "unauthorized", "Wrong username or password."));
    expect(await screen.findByRole("alert")).toHaveTextContent("Wrong username or password");
    expect(screen.getByLabelText("Password")).toHaveFocus();
    expect(onLogin).not.toHaveBeenCalled();
  });

  it("counts down after too many attempts", async () => {
    await logIn(problem(429, "too-many", "Too many wrong attempts.", undefined, { "Retry-After": "42" }));
    expect(await screen.findByRole("timer")).toHaveTextContent("in 42 seconds");
    expect(screen.getByRole("button", { name: "Log in" })).toBeDisabled();
  });

  it("shows the lines that create a new login", async () => {
    mockApi({});
    renderAt("/login", <LoginForm onLogin={() => undefined} />);
    await userEvent.click(screen.getByText("Forgot it?"));
    expect(screen.getByText(/RESET_ADMIN_PASSWORD: "true"/)).toBeVisible();
  });
});

import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { AccountStep } from "./account-step";

describe("the account of the setup", () => {
  it("needs one typed field if the link contains the code", async () => {
    const calls = mockApi({ "POST /api/setup": { user: "admin", setup: "provider" } });
    const onDone = vi.fn();
    renderAt("/setup", <AccountStep code="K7QF-2M9X" onDone={onDone} />);
    expect(screen.getAllByRole("textbox")).toHaveLength(1);
    await userEvent.type(screen.getByLabelText("Password"), "correct horse");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
    expect(await calls.find((call) => call.method === "POST")?.json()).toEqual({ user: "admin", password: "correct horse", code: "K7QF-2M9X", origin: location.origin, endKeys: false });
  });

  it("asks for the code after the one of an old link was refused", async () => {
    mockApi({ "POST /api/setup": problem(400, "bad-input", "This is not the code.", { code: ["This is not the code."] }) });
    renderAt("/setup", <AccountStep code="AAAA-AAAA" onDone={() => undefined} />);
    await userEvent.type(screen.getByLabelText("Password"), "correct horse");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByLabelText("Setup code")).toHaveAccessibleDescription(/This is not the code/);
    await waitFor(() => expect(screen.getByLabelText("Setup code")).toHaveFocus());
  });

  it("refuses a short password without a request", async () => {
    const calls = mockApi({});
    renderAt("/setup", <AccountStep code="" onDone={() => undefined} />);
    await userEvent.type(screen.getByLabelText("Password"), "short");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(screen.getByText("Use at least 8 characters.")).toBeVisible();
    expect(calls.filter((call) => call.method === "POST")).toHaveLength(0);
  });

  it("offers to revoke the keys that a reset has left", async () => {
    const calls = mockApi({
      "GET /api/setup": { complete: false, step: "account", needsCode: true, hasKeys: true },
      "POST /api/setup": { user: "admin", setup: "provider" },
    });
    renderAt("/setup", <AccountStep code="K7QF-2M9X" onDone={() => undefined} />);
    await userEvent.click(await screen.findByRole("switch", { name: "Revoke all API keys for scripts" }));
    await userEvent.type(screen.getByLabelText("Password"), "correct horse");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await waitFor(() => expect(calls.some((call) => call.method === "POST")).toBe(true));
    expect(await calls.find((call) => call.method === "POST")?.json()).toMatchObject({ endKeys: true });
  });
});

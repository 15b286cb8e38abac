import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Toaster } from "@/components/ui/toaster";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { SettingsPage } from "./settings-page";

const field = {
  group: "streaming", help: "Help.", type: "integer", unit: "MiB", min: 4, max: 512, choices: null, default: "128", restart: false, secret: false,
  advanced: false, basic: true, aliases: [], overrideName: "X", zeroMeans: null,
};
const schema = {
  items: [
    { ...field, key: "usenet.read-ahead-mb", title: "Read ahead", restart: true },
    { ...field, key: "usenet.max-streams", title: "Streams at a time", basic: false, advanced: true },
    { ...field, key: "rclone.mount-dir", title: "Where the mount is", group: "library", type: "path", unit: null, min: null, max: null, default: "/mnt/sluice" },
  ],
};
const value = { variable: null, effective: null, isSet: true, isLocked: false };
const values = {
  seq: 1,
  items: [
    { ...value, key: "usenet.read-ahead-mb", value: "64", source: "saved" },
    { ...value, key: "usenet.max-streams", value: "128", source: "default" },
    { ...value, key: "rclone.mount-dir", value: "/films", source: "environment", variable: "MOUNT" },
  ],
};

beforeEach(() => {
  vi.stubGlobal("EventSource", class { addEventListener = () => undefined; close = () => undefined; });
});

function show(path: string, group: string | undefined, more: Parameters<typeof mockApi>[0] = {}) {
  const calls = mockApi({ "GET /api/settings/schema": schema, "GET /api/settings": values, ...more });
  renderAt(path, <SettingsPage group={group} />);
  return calls;
}

describe("the settings", () => {
  it("show the basic ones of all groups first, and the others in their group", async () => {
    show("/settings", undefined);
    expect(await screen.findByLabelText("Read ahead")).toHaveValue(64);
    expect(screen.queryByLabelText("Streams at a time")).toBeNull();
    expect(screen.getByLabelText("Where the mount is")).toBeDisabled();
    expect(screen.getByText("MOUNT")).toBeVisible();
  });

  it("restore the value before a reset, even if the new one arrives first", async () => {
    let current = values;
    let client: QueryClient | undefined;
    const Tap = () => {
      client = useQueryClient();
      return null;
    };
    const calls = mockApi({
      "GET /api/settings/schema": schema,
      "GET /api/settings": () => current,
      "PUT /api/settings": () => values,
      "DELETE /api/settings/usenet.read-ahead-mb": async () => {
        // The event of the change may overtake the response.
        current = { ...values, items: values.items.map((entry) => (entry.key === "usenet.read-ahead-mb" ? { ...entry, value: "128", source: "default", isSet: false } : entry)) };
        await client?.invalidateQueries();
        await waitFor(() => expect(screen.getByLabelText("Read ahead")).toHaveValue(128));
        return {};
      },
    });
    renderAt("/settings/streaming", <><SettingsPage group="streaming" /><Toaster /><Tap /></>);
    await userEvent.click(await screen.findByRole("button", { name: "Reset Read ahead" }));
    await userEvent.click(await screen.findByRole("button", { name: "Undo" }));
    await waitFor(() => expect(calls.some((call) => call.method === "PUT")).toBe(true));
    expect(await calls.find((call) => call.method === "PUT")?.json()).toEqual({ values: { "usenet.read-ahead-mb": "64" } });
  });

  it("save a group after a review of old and new values", async () => {
    const saved = { ...values, items: values.items.map((entry) => ({ ...entry, value: entry.key === "usenet.read-ahead-mb" ? "256" : entry.value })) };
    const calls = show("/settings/streaming", "streaming", { "PUT /api/settings": saved });
    const input = await screen.findByLabelText("Read ahead");
    await userEvent.clear(input);
    await userEvent.type(input, "9999");
    expect(screen.getByText("Must be 4 to 512.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Review and save" }));
    expect(screen.queryByRole("dialog")).toBeNull();
    await userEvent.clear(input);
    await userEvent.type(input, "256");
    await userEvent.click(screen.getByRole("button", { name: "Review and save" }));
    const dialog = await screen.findByRole("dialog");
    expect(within(dialog).getByText("64 MiB")).toBeVisible();
    expect(within(dialog).getByText("256 MiB")).toBeVisible();
    await userEvent.click(within(dialog).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(screen.queryByRole("button", { name: "Review and save" })).toBeNull());
    expect(await calls.find((call) => call.method === "PUT")?.json()).toEqual({ values: { "usenet.read-ahead-mb": "256" } });
  });

  it("show the server's error at its field", async () => {
    const refusal = problem(400, "bad-input", "A value cannot be used.", { "usenet.max-streams": ["Too many for the memory."] });
    show("/settings/streaming", "streaming", { "PUT /api/settings": refusal });
    const input = await screen.findByLabelText("Streams at a time");
    await userEvent.clear(input);
    await userEvent.type(input, "200");
    await userEvent.click(screen.getByRole("button", { name: "Review and save" }));
    await userEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Too many for the memory.")).toBeVisible();
    expect(input).toHaveAccessibleDescription(/Too many for the memory/);
  });

  it("can be searched across all groups", async () => {
    show("/settings?q=max-streams", undefined);
    expect(await screen.findByLabelText("Streams at a time")).toBeVisible();
    expect(screen.queryByLabelText("Read ahead")).toBeNull();
  });

  it("ask for the password again before a full key is created", async () => {
    const answers = [problem(403, "password-needed", "Enter your password again to continue."), problem(400, "bad-input", "No.", { password: ["The password is wrong."] })];
    const calls = show("/settings/account", "account", {
      "GET /api/keys": { items: [] },
      "POST /api/keys": () => answers.shift() ?? { id: "1", name: "backup", access: "full", key: "0123456789abcdef" },
    });
    await userEvent.click(await screen.findByRole("button", { name: "Create key" }));
    const dialog = await screen.findByRole("dialog");
    await userEvent.type(within(dialog).getByLabelText("Name"), "backup");
    await userEvent.click(within(dialog).getByRole("button", { name: "Create key" }));
    const password = await within(dialog).findByLabelText("Your password");
    expect(password).toHaveFocus();
    await userEvent.type(password, "wrong horse");
    await userEvent.click(within(dialog).getByRole("button", { name: "Create key" }));
    await waitFor(() => expect(password).toHaveAccessibleDescription(/The password is wrong/));
    await userEvent.clear(password);
    await userEvent.type(password, "correct horse");
    await userEvent.click(within(dialog).getByRole("button", { name: "Create key" }));
    expect(await within(dialog).findByText("0123456789abcdef")).toBeVisible();
    const bodies = await Promise.all(calls.filter((call) => call.method === "POST").map((call) => call.json()));
    expect(bodies.map((body: { password?: string }) => body.password)).toEqual([undefined, "wrong horse", "correct horse"]);
  });

  it("offer to revoke the keys with a new password", async () => {
    const key = { id: "1", name: "backup", access: "full", created: "2026-01-03T10:00:00Z", lastUsed: null };
    const calls = show("/settings/account", "account", { "GET /api/keys": { items: [key] }, "PUT /api/account": { user: "admin" } });
    await userEvent.type(await screen.findByLabelText("Username"), "admin");
    await userEvent.type(screen.getByLabelText("Current password"), "correct horse");
    await userEvent.type(screen.getByLabelText(/New password/), "another horse");
    await userEvent.click(await screen.findByRole("switch", { name: "Also revoke all API keys for scripts" }));
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(calls.some((call) => call.method === "PUT")).toBe(true));
    expect(await calls.find((call) => call.method === "PUT")?.json()).toEqual({
      user: "admin", oldPassword: "correct horse", newPassword: "another horse", endKeys: true,
    });
  });

  it("list the sessions and end another one", async () => {
    const session = { created: "2026-01-03T10:00:00Z", lastUsed: "2026-01-03T11:00:00Z", ends: "2026-02-02T11:00:00Z" };
    const items = [
      { ...session, id: "a1", address: "192.168.1.20", agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", current: true },
      { ...session, id: "b2", address: "192.168.1.30", agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1", current: false },
    ];
    const calls = show("/settings/account", "account", {
      "GET /api/sessions": () => ({ items }),
      "DELETE /api/sessions/b2": () => {
        items.splice(1, 1);
        return new Response(null, { status: 204 });
      },
    });
    expect(await screen.findByText("Firefox on Linux at 192.168.1.20")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Log out Firefox on Linux at 192.168.1.20" })).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Log out Safari on iPhone at 192.168.1.30" }));
    await userEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Log out" }));
    await waitFor(() => expect(screen.queryByText("Safari on iPhone at 192.168.1.30")).toBeNull());
    expect(calls.filter((call) => call.method === "DELETE")).toHaveLength(1);
  });
});

import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
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
    { ...field, key: "rclone.mount-dir", title: "Where the mount is", group: "library", type: "path", unit: null, min: null, max: null, default: "/mnt/nzbdav" },
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
  it("show the simple ones of all groups first, and the others in their group", async () => {
    show("/settings", undefined);
    expect(await screen.findByLabelText("Read ahead")).toHaveValue(64);
    expect(screen.queryByLabelText("Streams at a time")).toBeNull();
    expect(screen.getByLabelText("Where the mount is")).toBeDisabled();
    expect(screen.getByText("MOUNT")).toBeVisible();
  });

  it("save a group after showing what was and what will be", async () => {
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

  it("put what the server refuses beside its field", async () => {
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

  it("are searched in all groups", async () => {
    show("/settings?q=max-streams", undefined);
    expect(await screen.findByLabelText("Streams at a time")).toBeVisible();
    expect(screen.queryByLabelText("Read ahead")).toBeNull();
  });
});

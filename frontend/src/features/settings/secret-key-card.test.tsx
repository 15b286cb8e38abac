import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { SecretKeyCard } from "./secret-key-card";

const lost = {
  file: "keys/secret.key",
  state: "missing",
  sentence: "The key file keys/secret.key is missing.",
  settings: [
    { key: "api.key", title: "API key", isMadeAnew: true, sentence: "Sluice makes a new one." },
    { key: "usenet.providers", title: "Providers", isMadeAnew: false, sentence: "Add every provider again." },
  ],
  links: ["STRM files in your media library."],
  queueItems: 1,
  historyItems: 0,
  releases: 2,
  id: "0011",
};
const usable = { ...lost, state: "usable", sentence: null, settings: [], links: [], queueItems: 0, releases: 0, id: "0022" };

describe("the card of the key file", () => {
  it("is hidden while nothing is locked", async () => {
    const calls = mockApi({ "GET /api/settings/secret-key": usable });
    renderAt("/settings", <SecretKeyCard />);
    await waitFor(() => expect(calls).toHaveLength(1));
    expect(screen.queryByText("Key file lost")).toBeNull();
  });

  it("lists the losses before the key is given up, and asks for the password", async () => {
    let tries = 0;
    const calls = mockApi({
      "GET /api/settings/secret-key": lost,
      "POST /api/settings/secret-key/give-up": () =>
        ++tries === 1 ? problem(400, "bad-input", "The password is wrong.", { password: ["The password is wrong."] }) : usable,
    });
    renderAt("/settings", <SecretKeyCard />);
    expect(await screen.findByText("The key file keys/secret.key is missing.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Create a new key file" }));
    const dialog = await screen.findByRole("dialog");
    expect(within(dialog).getByText("Providers")).toBeVisible();
    expect(within(dialog).getByText("STRM files in your media library.")).toBeVisible();
    expect(within(dialog).getByText("The link or archive password of 1 queued NZB.")).toBeVisible();
    expect(within(dialog).getByText("The archive passwords of 2 releases from an earlier server.")).toBeVisible();

    await userEvent.click(within(dialog).getByRole("button", { name: "Create a new key file" }));
    expect(within(dialog).getByText("Enter your current password.")).toBeVisible();
    await userEvent.type(within(dialog).getByLabelText("Current password"), "secret-password");
    await userEvent.click(within(dialog).getByRole("button", { name: "Create a new key file" }));
    expect(await within(dialog).findByText("The password is wrong.")).toBeVisible();
    await userEvent.click(within(dialog).getByRole("button", { name: "Create a new key file" }));

    await waitFor(() => expect(calls.filter((call) => call.method === "POST")).toHaveLength(2));
    expect(await calls.findLast((call) => call.method === "POST")?.json()).toEqual({ id: "0011", password: "secret-password" });
  });
});

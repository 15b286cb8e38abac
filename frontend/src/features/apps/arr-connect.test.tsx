import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { mockApi } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import type { ArrConnected, ArrPlan } from "./api/apps";
import { ArrConnect } from "./arr-connect";

const path = { ok: true, ourPath: "/mnt/sluice", theirPath: "/mnt/sluice", sees: true, sentence: "Sonarr sees /mnt/sluice.", volumeLine: null };
const connected: ArrConnected = {
  instance: { id: "a", kind: "sonarr", name: "Sonarr", url: "http://sonarr:8989", category: "tv", lastCheck: null, state: "ok", sentence: null },
  address: "http://nas:3000", created: true, tried: [], path,
};
const plan = (rest: Partial<ArrPlan>): ArrPlan => ({ action: "add", address: "http://nas:3000", client: null, changes: [], token: null, ...rest });

async function submit() {
  renderAt("/settings/arr", <ArrConnect kind="sonarr" categories={["tv"]} />);
  await userEvent.type(screen.getByLabelText("Sonarr address"), "http://sonarr:8989");
  await userEvent.type(screen.getByLabelText("Sonarr API key"), "key");
  await userEvent.click(screen.getByRole("button", { name: "Add to Sonarr" }));
}

describe("ArrConnect", () => {
  it("adds a download client without asking if nothing else changes", async () => {
    const calls = mockApi({ "POST /api/arr/plan": plan({}), "POST /api/arr/connect": connected, "GET /api/arr": { items: [], locked: null } });
    await submit();
    expect(await screen.findByText("Sonarr is connected (via http://nas:3000).")).toBeVisible();
    expect(calls.filter((call) => call.url.includes("/api/arr/connect"))).toHaveLength(1);
  });

  it("shows the changes of a client first, and applies them only after consent", async () => {
    const changes = [{ name: "host", from: "old", to: "nas" }, { name: "useSsl", from: "true", to: "false" }, { name: "apiKey", from: "", to: "" }];
    const calls = mockApi({
      "POST /api/arr/plan": plan({ action: "ask", client: "Sluice", changes, token: "t1" }), "POST /api/arr/connect": connected, "GET /api/arr": { items: [], locked: null },
    });
    await submit();
    expect(await screen.findByText(/has a download client named Sluice that points elsewhere/)).toBeVisible();
    expect(screen.getByText("Host").closest("li")).toHaveTextContent("Host · old → nas");
    expect(screen.getByText("Use SSL").closest("li")).toHaveTextContent("Use SSL · yes → no");
    expect(calls.filter((call) => call.url.includes("/api/arr/connect"))).toHaveLength(0);
    await userEvent.click(screen.getByRole("button", { name: "Change it" }));
    expect(await screen.findByText("Sonarr is connected (via http://nas:3000).")).toBeVisible();
    expect(await calls.find((call) => call.url.includes("/api/arr/connect"))?.json()).toMatchObject({ agreed: "t1" });
    expect(screen.queryByRole("button", { name: "Change it" })).toBeNull();
  });
});

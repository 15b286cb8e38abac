import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { RescuePage } from "./rescue-page";

const state = { cause: "Sluice is in safe mode: its database is damaged.", needsCode: true };
const backup = { id: "2026-11-29T030000Z-v36", at: "2026-11-29T03:00:00Z" };
const list = { items: [{ backup, cost: { id: backup.id, sentence: "The backup is 14 minutes old.", later: 3 } }], isRestoring: false };

describe("the rescue page", () => {
  it("asks for the code, shows the cost of each backup and restores one", async () => {
    const calls = mockApi({
      "GET /api/rescue": state,
      "POST /api/rescue": async (request) => {
        const body = (await request.json()) as { code: string; backup?: string };
        if (body.code !== "K7QF-2M9X") return problem(400, "bad-input", "This is not the code.", { code: ["This is not the code."] });
        return body.backup === undefined ? list : { items: [], isRestoring: true };
      },
    });
    renderAt("/rescue", <RescuePage />);
    expect(await screen.findByText(state.cause)).toBeVisible();
    await userEvent.type(screen.getByLabelText("Code"), "AAAA");
    await userEvent.click(screen.getByRole("button", { name: "Show backups" }));
    expect(await screen.findByText("This is not the code.")).toBeVisible();
    await userEvent.clear(screen.getByLabelText("Code"));
    await userEvent.type(screen.getByLabelText("Code"), "K7QF-2M9X");
    await userEvent.click(screen.getByRole("button", { name: "Show backups" }));
    expect(await screen.findByText("The backup is 14 minutes old.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Restore" }));
    expect(await screen.findByText(/will reload automatically/)).toBeVisible();
    expect(await calls.at(-1)?.json()).toEqual({ code: "K7QF-2M9X", backup: backup.id, requeue: true });
  });

  it("sends the passphrase of a backup from another machine", async () => {
    const locked = { ...list, items: list.items.map((item) => ({ ...item, cost: { ...item.cost, needsPassphrase: true } })) };
    const calls = mockApi({
      "GET /api/rescue": state,
      "POST /api/rescue": async (request) => (((await request.json()) as { backup?: string }).backup === undefined ? locked : { items: [], isRestoring: true }),
    });
    renderAt("/rescue#K7QF-2M9X", <RescuePage />);
    await userEvent.click(await screen.findByRole("button", { name: "Show backups" }));
    await userEvent.type(await screen.findByLabelText("Backup passphrase", { selector: "input" }), "the right passphrase");
    await userEvent.click(screen.getByRole("button", { name: "Restore" }));
    expect(await screen.findByText(/will reload automatically/)).toBeVisible();
    expect(await calls.at(-1)?.json()).toEqual({ code: "K7QF-2M9X", backup: backup.id, requeue: true, passphrase: "the right passphrase" });
  });

  it("says that nothing needs a rescue", async () => {
    mockApi({});
    renderAt("/rescue", <RescuePage />);
    expect(await screen.findByText("The server isn't in safe mode")).toBeVisible();
  });
});

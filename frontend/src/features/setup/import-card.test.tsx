import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import type { FamilyImport } from "./api/import";
import { ImportCard } from "./import-card";

const found: FamilyImport = {
  state: "found", source: "/config/db.sqlite", shape: "json-columns", progress: 0, error: null, startedAt: null, finishedAt: null,
  counts: [{ kind: "settings", found: 40, taken: 38, left: 2 }, { kind: "files", found: 12_000, taken: 12_000, left: 0 }],
  left: [{ kind: "settings", name: "api.key", reason: "It is set by a variable." }], leftTotal: 2,
  notes: ["usenet.read-ahead: 30 articles -> 64 MiB"], notesTotal: 1, kept: ["rclone.host"],
};

describe("the import of an earlier installation", () => {
  it("shows nothing if there is none", async () => {
    const calls = mockApi({ "GET /api/setup/import": { ...found, state: "none", source: null, counts: [] } });
    renderAt("/setup", <ImportCard />);
    await expect.poll(() => calls.length).toBe(1);
    expect(screen.queryByRole("heading")).toBeNull();
  });

  it("shows what it imports and skips and why, then imports it", async () => {
    let now: FamilyImport = { ...found, state: "looking", counts: [] };
    const calls = mockApi({
      "GET /api/setup/import": () => {
        const answer = now;
        if (now.state === "looking") now = found;
        if (now.state === "running") now = { ...found, state: "finished", progress: 1 };
        return answer;
      },
      "POST /api/setup/import": () => {
        now = { ...found, state: "running", progress: 0.4 };
        return Response.json(now, { status: 202 });
      },
    });
    renderAt("/setup", <ImportCard />);
    await screen.findByText("Checking for an earlier installation", { selector: "h3" });
    await screen.findByText("/config/db.sqlite");
    const row = screen.getByRole("cell", { name: "Settings" }).closest("tr") as HTMLElement;
    expect(within(row).getAllByRole("cell").map((cell) => cell.textContent)).toEqual(["Settings", "38", "2"]);
    expect(screen.getByText("2 items were skipped")).toBeInTheDocument();
    expect(screen.getByText("It is set by a variable.")).toBeInTheDocument();
    expect(screen.getByText("and 1 more in the log")).toBeInTheDocument();
    expect(screen.getByText("1 item was converted")).toBeInTheDocument();
    expect(screen.getByText("rclone.host")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Import" }));
    expect(await screen.findByRole("progressbar")).toHaveAttribute("aria-valuenow", "40");
    expect(screen.getByText("38 of 40")).toBeInTheDocument();
    await screen.findByText("Import finished");
    expect(screen.queryByRole("button", { name: "Import" })).toBeNull();
    expect(calls.filter((call) => call.method === "POST")).toHaveLength(1);
  });

  it("explains its failure, and retries", async () => {
    mockApi({ "GET /api/setup/import": { ...found, state: "failed", error: "The disk is full." }, "POST /api/setup/import": problem(409, "wrong-state", "An import is under way.") });
    renderAt("/setup", <ImportCard />);
    await screen.findByText("The disk is full.");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("An import is under way.");
  });
});

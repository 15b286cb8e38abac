import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { SystemCard } from "./system-card";

const system = {
  version: "0.1.0",
  commit: "0123abc",
  form: "ordinary",
  startedAt: "2026-11-29T03:00:00Z",
  mode: "normal",
  residentBytes: 40_000_000,
  budgetBytes: 268_435_456,
  freeBytes: null,
  playbackPermits: 50,
  importPermits: 10,
  checks: [{ name: "Database", ok: true, sentence: "The database is in use." }],
  newer: null,
};

describe("the card of the server", () => {
  it("offers the bundle for bug reports", async () => {
    mockApi({ "GET /api/system": system });
    renderAt("/settings/system", <SystemCard />);
    expect(await screen.findByText("The database is in use.")).toBeVisible();
    expect(screen.getByRole("link", { name: "Download support bundle" })).toHaveAttribute("href", expect.stringMatching(/\/api\/system\/support-bundle$/));
    expect(screen.queryByText(/is available/)).toBeNull();
  });

  it("names a newer version in one line", async () => {
    mockApi({ "GET /api/system": { ...system, newer: { version: "0.2.0", notes: "Backups to a second disk." } } });
    renderAt("/settings/system", <SystemCard />);
    expect(await screen.findByText("Version 0.2.0 is available. Backups to a second disk.")).toBeVisible();
  });

  it("offers the bundle even if the state of the server cannot be loaded", async () => {
    mockApi({ "GET /api/system": problem(503, "safe-mode", "The database cannot be used.") });
    renderAt("/settings/system", <SystemCard />);
    expect(await screen.findByText("The database cannot be used.")).toBeVisible();
    expect(screen.getByRole("link", { name: "Download support bundle" })).toBeVisible();
  });
});

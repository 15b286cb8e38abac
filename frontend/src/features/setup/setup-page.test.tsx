import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { mockApi } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import type { FamilyImport } from "./api/import";
import { SetupPage } from "./setup-page";

const setup = { complete: true, step: "provider", needsCode: false };
const found: FamilyImport = {
  state: "found", source: "/config/db.sqlite", shape: "json-columns", progress: 0, error: null, startedAt: null, finishedAt: null,
  counts: [{ kind: "files", found: 161, taken: 161, left: 0 }], left: [], leftTotal: 0, notes: [], notesTotal: 0, kept: [],
};
const page = <SetupPage provider={() => <p>the form</p>} apps={<p>the cards</p>} />;
const headings = () => screen.getAllByRole("heading").map((heading) => heading.textContent);

it("shows a step for an earlier installation before the provider", async () => {
  mockApi({ "GET /api/setup": setup, "GET /api/setup/import": found });
  renderAt("/setup", page);
  await screen.findByText("Found an earlier installation");
  expect(headings()).toEqual(["Migrate", "Found an earlier installation"]);
  expect(screen.getByText("Step 2 of 5")).toBeVisible();
  expect(screen.queryByText("the form")).toBeNull();

  await userEvent.click(screen.getByRole("button", { name: "Continue" }));
  await screen.findByText("the form");
  expect(headings()).toEqual(["Provider"]);

  await userEvent.click(screen.getByRole("button", { name: /Migrate/ }));
  await screen.findByText("Found an earlier installation");
});

it("has no import step without an earlier installation", async () => {
  mockApi({ "GET /api/setup": setup, "GET /api/setup/import": { ...found, state: "none", source: null, counts: [] } });
  renderAt("/setup?step=import", page);
  await screen.findByText("the form");
  expect(headings()).toEqual(["Provider"]);
  expect(screen.getByText("Step 2 of 4")).toBeVisible();
});

it("stays at the import step until the user continues, whatever its result", async () => {
  let now: FamilyImport = { ...found, state: "running", counts: [{ kind: "files", found: 161, taken: 98, left: 0 }] };
  mockApi({ "GET /api/setup": setup, "GET /api/setup/import": () => now });
  renderAt("/setup", page);
  await screen.findByText("98 of 161");
  now = { ...found, state: "finished" };
  await screen.findByText("Import finished", undefined, { timeout: 5_000 });
  expect(headings()[0]).toBe("Migrate");
});

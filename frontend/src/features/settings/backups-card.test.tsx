import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { formatDateTime } from "@/lib/format";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { BackupsCard } from "./backups-card";

const row = {
  id: "2026-11-29T030000Z-v36",
  kind: "daily",
  place: "data-folder",
  at: "2026-11-29T03:00:00Z",
  stillTrueAt: "2026-11-29T03:00:00Z",
  programVersion: "0.1.0",
  schema: 36,
  bytes: 185_000_000,
  nzbs: 1200,
  nzbBytes: 90_000_000,
  files: 3400,
};
const list = { items: [row], isMaking: false, failure: null, failedAt: null, nextAt: "2126-11-30T03:00:00Z", second: null };
const second = {
  path: "/mnt/backup", count: 3, newestAt: "2026-11-29T03:00:00Z", isCopying: false, failure: null, failedAt: null, warning: null,
};
const nothing = { items: [], total: 0 };
const cost = {
  id: row.id, sentence: "The backup is 14 minutes old.", ageSeconds: 840, later: 3, settings: 0, logins: 0, files: 3400, locked: [], needsPassphrase: false,
};
const restorePath = `POST /api/backups/${row.id}/restore`;

beforeEach(() => {
  vi.stubGlobal("EventSource", class extends EventTarget {
    close() {
      // The server sends nothing.
    }
  });
});

describe("the card of backups", () => {
  it("lists the backups and why the last attempt failed", async () => {
    mockApi({ "GET /api/backups": { ...list, failure: "The last backup failed: the disk is full." }, "GET /api/backups/later": nothing });
    renderAt("/settings/backups", <BackupsCard />);
    expect(await screen.findByText("3,400 files, 1,200 NZBs, 185 MB")).toBeVisible();
    expect(screen.getByText("The last backup failed: the disk is full.")).toBeVisible();
    expect(screen.queryByRole("button", { name: /^Delete/ })).toBeNull();
    expect(screen.getByRole("link", { name: /^Download the backup/ })).toHaveAttribute("href", expect.stringMatching(`/api/backups/${row.id}$`));
  });

  it("says that there is no backup yet", async () => {
    mockApi({ "GET /api/backups": { ...list, items: [], nextAt: null }, "GET /api/backups/later": nothing });
    renderAt("/settings/backups", <BackupsCard />);
    expect(await screen.findByText("No backup yet")).toBeVisible();
    expect(screen.getByText(/No backup is scheduled/)).toBeVisible();
  });

  it("recommends a second folder", async () => {
    mockApi({ "GET /api/backups": list, "GET /api/backups/later": nothing });
    renderAt("/settings/backups", <BackupsCard />);
    expect(await screen.findByText(/enter a folder on another disk/)).toBeVisible();
  });

  it("shows the copies in the second folder", async () => {
    const rows = [{ ...row, place: "both" }, { ...row, id: "2026-11-28T030000Z-v36", at: "2026-11-28T03:00:00Z", place: "second-folder" }];
    mockApi({ "GET /api/backups": { ...list, items: rows, second }, "GET /api/backups/later": nothing });
    renderAt("/settings/backups", <BackupsCard />);
    expect(await screen.findByText(/^3 backups, the newest from/)).toBeVisible();
    expect(screen.getByText("/mnt/backup")).toBeVisible();
    expect(screen.getByText("Copied")).toBeVisible();
    expect(screen.getByText("Second folder only")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: `Delete the backup from ${formatDateTime(row.at)}` }));
    expect(await screen.findByText(/Its copy in the second folder and all other backups are kept/)).toBeVisible();
  });

  it("says why nothing is copied to the second folder", async () => {
    const failed = { ...second, count: 0, newestAt: null, failure: "The backups could not be copied to the second folder: its disk is full." };
    mockApi({ "GET /api/backups": { ...list, second: failed }, "GET /api/backups/later": nothing });
    renderAt("/settings/backups", <BackupsCard />);
    expect(await screen.findByText(/its disk is full/)).toBeVisible();
    expect(screen.queryByText(/^No copies yet/)).toBeNull();
  });

  it("warns of a second folder on the same disk", async () => {
    mockApi({ "GET /api/backups": { ...list, second: { ...second, count: 0, newestAt: null, warning: "Same disk." } }, "GET /api/backups/later": nothing });
    renderAt("/settings/backups", <BackupsCard />);
    expect(await screen.findByText("Same disk.")).toBeVisible();
    expect(screen.getByText("No copies yet. The next backup will be copied here.")).toBeVisible();
  });

  it("creates a backup on request", async () => {
    const calls = mockApi({ "GET /api/backups": list, "GET /api/backups/later": nothing, "POST /api/backups": { ...list, isMaking: true } });
    renderAt("/settings/backups", <BackupsCard />);
    await screen.findByText("Verified");
    await userEvent.click(screen.getByRole("button", { name: "Back up now" }));
    expect(await screen.findByRole("button", { name: /Backing up/ })).toBeVisible();
    expect(calls.some((call) => call.method === "POST")).toBe(true);
  });

  it("shows the cost before a restore, and asks for the password", async () => {
    let tries = 0;
    const calls = mockApi({
      "GET /api/backups": list,
      "GET /api/backups/later": nothing,
      [restorePath]: (request) => {
        if (new URL(request.url).searchParams.get("dryRun") === "true") return cost;
        tries += 1;
        return tries === 1 ? problem(403, "password-needed", "Enter your password again to continue.") : cost;
      },
    });
    renderAt("/settings/backups", <BackupsCard />);
    await userEvent.click(await screen.findByRole("button", { name: /^Restore the backup/ }));
    const dialog = await screen.findByRole("dialog");
    expect(await within(dialog).findByText(cost.sentence)).toBeVisible();
    await userEvent.click(within(dialog).getByRole("button", { name: "Restore" }));
    await userEvent.type(await within(dialog).findByLabelText(/password/i, { selector: "input" }), "secret-password");
    await userEvent.click(within(dialog).getByRole("button", { name: "Restore" }));
    expect(await within(dialog).findByText(/will reload automatically/)).toBeVisible();
    const sent = calls.findLast((call) => call.url.endsWith("/restore"));
    expect(await sent?.json()).toEqual({ requeue: true, password: "secret-password" });
  });

  it("asks for the passphrase of a backup from another machine", async () => {
    const calls = mockApi({
      "GET /api/backups": list,
      "GET /api/backups/later": nothing,
      [restorePath]: async (request) => {
        if (new URL(request.url).searchParams.get("dryRun") === "true") return { ...cost, locked: ["usenet.providers"], needsPassphrase: true };
        const body = (await request.json()) as { passphrase?: string };
        const wrong = "This is not the passphrase of this backup.";
        return body.passphrase === "the right passphrase" ? cost : problem(400, "bad-input", wrong, { passphrase: [wrong] });
      },
    });
    renderAt("/settings/backups", <BackupsCard />);
    await userEvent.click(await screen.findByRole("button", { name: /^Restore the backup/ }));
    const dialog = await screen.findByRole("dialog");
    const field = await within(dialog).findByLabelText("Backup passphrase", { selector: "input" });
    await userEvent.type(field, "a wrong passphrase");
    await userEvent.click(within(dialog).getByRole("button", { name: "Restore" }));
    expect(await within(dialog).findByText("This is not the passphrase of this backup.")).toBeVisible();
    await userEvent.clear(field);
    await userEvent.type(field, "the right passphrase");
    await userEvent.click(within(dialog).getByRole("button", { name: "Restore" }));
    expect(await within(dialog).findByText(/will reload automatically/)).toBeVisible();
    expect(await calls.findLast((call) => call.url.endsWith("/restore"))?.json()).toEqual({ requeue: true, passphrase: "the right passphrase" });
  });

  it("offers no restore of a damaged backup", async () => {
    mockApi({
      "GET /api/backups": list,
      "GET /api/backups/later": nothing,
      [restorePath]: problem(422, "test-failed", "This backup cannot be restored: sluice.db is damaged."),
    });
    renderAt("/settings/backups", <BackupsCard />);
    await userEvent.click(await screen.findByRole("button", { name: /^Restore the backup/ }));
    const dialog = await screen.findByRole("dialog");
    expect(await within(dialog).findByRole("alert")).toHaveTextContent("sluice.db is damaged");
    expect(within(dialog).getByRole("button", { name: "Restore" })).toBeDisabled();
  });

  it("imports the NZBs that were added after the backup", async () => {
    const later = { items: [{ id: "aa", name: "Harbour Lights", category: "movies", at: row.at, bytes: 1 }], total: 1 };
    const calls = mockApi({ "GET /api/backups": list, "GET /api/backups/later": later, "POST /api/backups/later/requeue": { count: 1 } });
    renderAt("/settings/backups", <BackupsCard />);
    expect(await screen.findByText("Harbour Lights")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Import all" }));
    await waitFor(() => expect(calls.some((call) => call.url.endsWith("/later/requeue"))).toBe(true));
  });
});

import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { useToasts } from "@/lib/toast";
import { fakeEvents } from "@/testing/fake-events";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import type { HistoryDetail, HistoryRow } from "./api/history";
import { HistoryPage } from "./history-page";

const row = (id: string, rest: Partial<HistoryRow> = {}): HistoryRow => ({
  id, name: `Film ${id}`, category: "movies", result: "completed", reason: null, sentence: null, bytes: 1e9, completedAt: `2026-11-28T08:00:0${id}Z`, durationMs: 900,
  path: `movies/Film ${id}`, canRetry: false, inNoLibrary: false, film: null, missingShare: null, ...rest,
});
const locked = row("2", { result: "failed", reason: "encrypted-no-password", sentence: "The archive is encrypted and no password was given.", path: null, canRetry: true });
const detail = (item: HistoryRow): HistoryDetail => ({ item, addedAt: item.completedAt, startedAt: item.completedAt, steps: [], files: [], fileCount: 0, hasNzb: true });
const list = { items: [row("3"), locked, row("1")], next: null, total: 3, seq: 10 };
const queue = { items: [], next: null, total: 0, seq: 0, paused: false, pausedUntil: null, categories: ["movies", "tv"] };

function Toasts() {
  return <>{useToasts().map((toast) => <button key={toast.id} type="button" onClick={toast.action?.run}>{toast.title}</button>)}</>;
}

const show = (path: string, id?: string) =>
  renderAt(
    path,
    <>
      <HistoryPage id={id} />
      <Toasts />
    </>,
  );

describe("HistoryPage", () => {
  it("explains a failed import, and retries it with the password", async () => {
    fakeEvents();
    const calls = mockApi({
      "GET /api/history": list, "GET /api/queue": queue, "GET /api/history/2": detail(locked), "POST /api/history/2/retry": { ids: ["2"], names: ["Film 2"], failures: [""] },
    });
    show("/history/2", "2");
    const sheet = await screen.findByRole("dialog", { name: "Film 2" });
    expect(await within(sheet).findByRole("heading", { name: "Password needed" })).toBeVisible();
    expect(within(sheet).getByText("The archive is encrypted and no password was given.")).toBeVisible();
    await userEvent.type(within(sheet).getByLabelText(/^Archive password/), "secret");
    await userEvent.click(within(sheet).getByRole("button", { name: "Retry with this password" }));
    const retry = calls.find((call) => call.url.endsWith("/retry"));
    expect(await retry?.json()).toEqual({ password: "secret", otherProviders: false, ignoreHealth: false });
    expect(await screen.findByText("Back in the queue")).toBeVisible();
  });

  it("retries with gaps accepted", async () => {
    fakeEvents();
    const severe = row("2", { result: "failed", reason: "severe-damage", sentence: "Too much is missing.", path: null, canRetry: true });
    const calls = mockApi({
      "GET /api/history": { ...list, items: [severe] }, "GET /api/queue": queue,
      "GET /api/history/2": detail(severe), "POST /api/history/2/retry": { ids: ["2"], names: ["Film 2"], failures: [""] },
    });
    show("/history/2", "2");
    const sheet = await screen.findByRole("dialog", { name: "Film 2" });
    await userEvent.click(await within(sheet).findByRole("button", { name: "More ways to retry" }));
    await userEvent.click(await screen.findByText("Retry and accept gaps"));
    await waitFor(() => expect(calls.map((call) => new URL(call.url).pathname)).toContain("/api/history/2/retry"));
    expect(await calls.find((call) => call.url.endsWith("/retry"))?.json()).toEqual({ password: null, otherProviders: false, ignoreHealth: true });
  });

  it.each([["severe-damage", 2], ["dead-post", 1], ["broken-archive", 0]] as const)("with %s, the menu of a row offers %i other ways to retry", async (reason, count) => {
    fakeEvents();
    mockApi({ "GET /api/history": { ...list, items: [row("1", { result: "failed", reason, path: null, canRetry: true })] }, "GET /api/queue": queue });
    show("/history");
    await userEvent.click(await screen.findByRole("button", { name: "Actions for Film 1" }));
    expect(await screen.findByRole("menuitem", { name: "Retry" })).toBeVisible();
    expect(screen.queryAllByRole("menuitem", { name: /^Retry (on|and)/ })).toHaveLength(count);
  });

  it("removes with a key and undoes it", async () => {
    fakeEvents();
    const calls = mockApi({
      "GET /api/history": list, "GET /api/queue": queue, "POST /api/history/remove": { count: 1, undo: "u7", until: "2026-11-28T08:00:10Z" },
      "POST /api/undo/u7": new Response(null, { status: 204 }),
    });
    show("/history");
    const shown = await screen.findByText("Film 3");
    shown.closest("tr")?.focus();
    await userEvent.keyboard("{Delete}");
    await userEvent.click(await screen.findByRole("button", { name: "Removed from history" }));
    await waitFor(() => expect(calls.map((call) => new URL(call.url).pathname)).toContain("/api/undo/u7"));
    expect(await calls.find((call) => call.url.endsWith("/remove"))?.json()).toEqual({ ids: ["3"] });
  });

  it("lists imports that are in no library, and removes the files of one", async () => {
    fakeEvents();
    const calls = mockApi({
      "GET /api/history": { ...list, items: [row("3", { inNoLibrary: true })], total: 1 }, "GET /api/queue": queue,
      "POST /api/history/remove-files": { count: 1, undo: "u8", until: "2026-11-28T08:00:10Z" }, "POST /api/undo/u8": new Response(null, { status: 204 }),
    });
    show("/history?result=in-no-library");
    await userEvent.click(await screen.findByRole("button", { name: "Remove files" }));
    await userEvent.click(await screen.findByRole("button", { name: "Removed the files from 1 import" }));
    await waitFor(() => expect(calls.map((call) => new URL(call.url).pathname)).toContain("/api/undo/u8"));
    expect(new URL(calls.find((call) => new URL(call.url).pathname === "/api/history")?.url ?? "").searchParams.get("inNoLibrary")).toBe("true");
    expect(await calls.find((call) => call.url.endsWith("/remove-files"))?.json()).toEqual({ ids: ["3"] });
  });

  it("removes an import with its files after showing what goes", async () => {
    fakeEvents();
    const impact = { files: 1, bytes: 4e9, releases: 1, historyItems: 1, asked: 1, playing: [], programs: [{ name: "Sonarr", imported: 1, failure: null }], undo: null, until: null };
    const calls = mockApi({
      "GET /api/history": list, "GET /api/queue": queue,
      "DELETE /api/files": (request: Request) => (request.url.includes("dryRun") ? impact : { ...impact, undo: "u9", until: "2026-11-28T08:00:10Z" }),
    });
    show("/history");
    await userEvent.click(await screen.findByRole("button", { name: "Actions for Film 3" }));
    await userEvent.click(await screen.findByRole("menuitem", { name: "Remove with files" }));
    const dialog = await screen.findByRole("dialog", { name: "Remove Film 3 and its files?" });
    expect(await within(dialog).findByText("Sonarr imported it and will report it as missing.")).toBeVisible();
    await userEvent.click(within(dialog).getByRole("button", { name: "Remove with files" }));
    expect(await screen.findByRole("button", { name: "1 file deleted" })).toBeVisible();
    const sent: unknown = await calls.findLast((call) => call.method === "DELETE")?.json();
    expect(sent).toEqual({ ids: null, paths: null, filter: null, history: { ids: ["3"], filter: null } });
  });

  it("shows a new import at the top at once, without a request", async () => {
    const events = fakeEvents();
    const calls = mockApi({ "GET /api/history": list, "GET /api/queue": queue });
    show("/history");
    await screen.findByText("Film 3");
    await waitFor(() => expect(events.hears("history")).toBe(true));
    act(() => events.send("history", { kind: "delta", seq: 11, total: 4, changed: [row("9")], removed: [] }));
    await waitFor(() => expect(screen.getAllByRole("row")[1]).toHaveTextContent("Film 9"));
    expect(screen.getByRole("heading", { name: "4 imports" })).toBeVisible();
    expect(calls.filter((call) => new URL(call.url).pathname === "/api/history")).toHaveLength(1);
  });

  it("says that a film plays with gaps, and filters by that", async () => {
    fakeEvents();
    const calls = mockApi({ "GET /api/history": { ...list, items: [row("1", { missingShare: 0.03 })] }, "GET /api/queue": queue });
    show("/history?result=with-gaps");
    expect(await screen.findByText("Plays with gaps (3% missing)")).toBeInTheDocument();
    const asked = new URL(calls.find((call) => call.url.includes("/api/history"))?.url ?? "").searchParams;
    expect([asked.get("withGaps"), asked.get("result")]).toEqual(["true", null]);
  });

  it("sends the filter instead of ids for all matches", async () => {
    fakeEvents();
    const calls = mockApi({ "GET /api/history": { ...list, total: 500, next: "x" }, "GET /api/queue": queue, "POST /api/history/retry": { count: 500 } });
    show("/history?result=failed&reason=dead-post");
    await userEvent.click(await screen.findByRole("checkbox", { name: "Select all rows" }));
    await userEvent.click(screen.getByRole("button", { name: "Select all 500 matches" }));
    await userEvent.click(within(screen.getByRole("region", { name: "Selected rows" })).getByRole("button", { name: "Retry" }));
    await screen.findByText("500 back in the queue");
    expect(await calls.find((call) => call.url.endsWith("/retry"))?.json()).toEqual({ filter: { result: "failed", reason: "dead-post" } });
  });

  it("explains why it cannot be loaded", async () => {
    fakeEvents();
    mockApi({ "GET /api/history": () => problem(500, "internal", "The database is locked."), "GET /api/queue": queue });
    show("/history");
    expect(await screen.findByRole("alert")).toHaveTextContent("The database is locked.");
  });
});

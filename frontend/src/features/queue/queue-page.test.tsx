import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";
import { uploads } from "@/lib/upload-queue";
import { fakeEvents } from "@/testing/fake-events";
import { mockApi, problem } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import type { QueuePage as Page, QueueRow } from "./api/queue";
import { QueuePage } from "./queue-page";

const row = (position: number, rest: Partial<QueueRow> = {}): QueueRow => ({
  id: `i${position}`, name: `Film ${position}`, category: "movies", priority: "normal", state: "queued", sentence: null, position, percent: 0, bytes: 1e9,
  files: 12, segments: 1400, postedAt: "2026-11-20T08:00:00Z", addedAt: "2026-11-28T08:00:00Z", hasPassword: false, steps: [], ...rest,
});
const list = (items: QueueRow[], rest: Partial<Page> = {}): Page => ({
  items, next: null, total: items.length, seq: 10, paused: false, pausedUntil: null, categories: ["movies", "tv"], ...rest,
});
const open = { paused: false, pausedUntil: null };

describe("QueuePage", () => {
  afterEach(() => uploads.cancel());

  it("follows steps, states and pauses live, in plain words", async () => {
    const events = fakeEvents();
    const calls = mockApi({ "GET /api/queue": list([row(0), row(1)]) });
    renderAt("/queue", <QueuePage />);
    await screen.findByText("Film 0");
    await waitFor(() => expect(events.hears("queue")).toBe(true));
    const steps: QueueRow["steps"] = [
      { step: "read", state: "done", ms: 12, detail: "3 files" },
      { step: "heads", state: "running", ms: 80, detail: "" },
      { step: "names", state: "pending", ms: null, detail: "" },
    ];
    act(() => events.send("queue", { kind: "delta", seq: 11, total: 2, state: open, changed: [row(0, { state: "running", percent: 35, steps })], removed: [] }));
    expect(await screen.findByText("movies · read 12 ms · headers…")).toBeInTheDocument();
    expect(screen.getByText("35%")).toBeVisible();
    act(() => events.send("queue", { kind: "delta", seq: 12, total: 2, state: { paused: true, pausedUntil: null }, changed: [], removed: [] }));
    expect(await screen.findByText("The queue is paused.")).toBeVisible();
    expect(screen.getByRole("button", { name: "Resume" })).toBeVisible();
    expect(calls.filter((call) => call.method === "GET" && call.url.includes("/api/queue"))).toHaveLength(1);
  });

  it("keeps the focus in the list when a key removes rows", async () => {
    const events = fakeEvents();
    mockApi({
      "GET /api/queue": list([row(0), row(1), row(2)]),
      "POST /api/queue/remove": () => {
        events.send("queue", { kind: "delta", seq: 11, total: 2, state: open, changed: [], removed: ["i1"] });
        return { count: 1, undo: "u1", until: null };
      },
    });
    renderAt("/queue", <QueuePage />);
    const middle = (await screen.findByText("Film 1")).closest("tr");
    await waitFor(() => expect(events.hears("queue")).toBe(true));
    act(() => middle?.focus());
    await userEvent.keyboard("{Delete}");
    await waitFor(() => expect(screen.queryByText("Film 1")).toBeNull());
    expect(document.activeElement).toHaveTextContent("Film 2");
  });

  it("moves an item by keys relative to its current position", async () => {
    fakeEvents();
    const calls = mockApi({ "GET /api/queue": list([row(4), row(7), row(9)]), "PUT /api/queue/i9": row(1) });
    renderAt("/queue", <QueuePage />);
    (await screen.findByText("Film 9")).closest("tr")?.focus();
    await userEvent.keyboard("K");
    await waitFor(() => expect(calls.some((call) => call.method === "PUT")).toBe(true));
    expect(await calls.find((call) => call.method === "PUT")?.json()).toEqual({ step: -1 });
  });

  it("sends only the changed values of an item", async () => {
    fakeEvents();
    const calls = mockApi({ "GET /api/queue": list([row(0)]), "PUT /api/queue/i0": row(0) });
    renderAt("/queue?item=i0", <QueuePage />);
    const sheet = await screen.findByRole("dialog", { name: "Film 0" });
    const name = within(sheet).getByLabelText("Name");
    await userEvent.clear(name);
    await userEvent.type(name, "Better");
    await userEvent.click(within(sheet).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(calls.some((call) => call.method === "PUT")).toBe(true));
    expect(await calls.find((call) => call.method === "PUT")?.json()).toEqual({ name: "Better" });
  });

  it("takes an address pasted anywhere, and explains its error", async () => {
    fakeEvents();
    mockApi({
      "GET /api/queue": list([row(0)]),
      "POST /api/queue/address": () => problem(400, "bad-input", "This cannot be used.", { url: ["Sluice can't download from this address: it is private."] }),
    });
    renderAt("/queue", <QueuePage />);
    await screen.findByText("Film 0");
    const paste = new Event("paste", { bubbles: true, cancelable: true });
    Object.assign(paste, { clipboardData: { files: [], getData: () => "https://indexer.test/1.nzb" } });
    act(() => void document.body.dispatchEvent(paste));
    expect(screen.getByLabelText("NZB link")).toHaveValue("https://indexer.test/1.nzb");
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(await screen.findByText("Sluice can't download from this address: it is private.")).toBeVisible();
  });

  it("sends the options with each file", async () => {
    fakeEvents();
    const calls = mockApi({ "GET /api/queue": list([row(0)]), "POST /api/queue": { ids: ["x"], names: ["film"], failures: [""] } });
    const { container } = renderAt("/queue", <QueuePage />);
    await screen.findByText("Film 0");
    await userEvent.click(screen.getByRole("button", { name: "Category, password, priority" }));
    await userEvent.selectOptions(screen.getAllByLabelText("Category")[0] as HTMLElement, "tv");
    await userEvent.selectOptions(screen.getByLabelText("Priority"), "high");
    await userEvent.upload(container.querySelector("input[type=file]") as HTMLInputElement, new File(["<nzb/>"], "film.nzb"));
    await waitFor(() => expect(calls.some((call) => call.method === "POST")).toBe(true));
    const text = await calls.find((call) => call.method === "POST")?.text();
    expect(text).toMatch(/name="category"\s+tv[\s\S]+name="priority"\s+high[\s\S]+name="file"/);
    expect(text).not.toContain('name="password"');
  });

  it("offers to add a provider if items wait for one", async () => {
    fakeEvents();
    mockApi({ "GET /api/queue": list([row(0, { state: "waiting", sentence: "No provider yet" })]), "GET /api/providers": { items: [] } });
    renderAt("/queue", <QueuePage />);
    expect(await screen.findByRole("link", { name: "Add provider" })).toHaveAttribute("href", "/settings/providers");
  });

  it("says that an item has left the queue, with a link to the history", async () => {
    fakeEvents();
    mockApi({ "GET /api/queue": list([]) });
    renderAt("/queue?item=gone", <QueuePage />);
    expect(await screen.findByRole("link", { name: "Open history" })).toHaveAttribute("href", "/history/gone");
  });
});

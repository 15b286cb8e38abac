import { act, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeEvents } from "@/testing/fake-events";
import { renderAt } from "@/testing/render";
import { type ListFrame, type ListPage, type ListRules, foldFrame, useLiveList } from "./live-list";

interface Row {
  id: string;
  state: string;
  at: number;
}

const row = (id: string, at: number, state = "queued"): Row => ({ id, at, state });
const page = (items: Row[], rest: Partial<ListPage<Row>> = {}): ListPage<Row> => ({ items, next: null, total: items.length, seq: 10, ...rest });
const delta = (rest: Partial<ListFrame<Row>>): ListFrame<Row> => ({ kind: "delta", seq: 11, total: 3, changed: [], removed: [], ...rest });

const whole: ListRules<Row> = {
  isFiltered: false,
  belongs: () => true,
  isMoved: (changed, _, at) => changed.at !== at,
  sideOf: (added, shown) => (added.at >= shown.length ? "end" : null),
};
const onlyQueued: ListRules<Row> = { ...whole, isFiltered: true, belongs: (changed) => changed.state === "queued", isMoved: () => false };

const ids = (pages: readonly ListPage<Row>[]) => pages.flatMap((one) => one.items.map((item) => item.id)).join("");

describe("foldFrame", () => {
  const rows = [row("a", 0), row("b", 1), row("c", 2)];

  it("replaces a changed row and keeps the other objects", () => {
    const { pages, isStale } = foldFrame([page(rows)], delta({ changed: [row("b", 1, "running")] }), whole);
    expect(pages[0]?.items[1]?.state).toBe("running");
    expect(pages[0]?.items[0]).toBe(rows[0]);
    expect(isStale).toBe(false);
  });

  it("does not change a page that is as new as the frame", () => {
    const pages = [page(rows, { seq: 11 })];
    expect(foldFrame(pages, delta({ removed: ["a"] }), whole).pages[0]).toBe(pages[0]);
  });

  it("follows rows that move up when earlier ones are removed", () => {
    const folded = foldFrame([page(rows)], delta({ removed: ["a"], changed: [row("b", 0, "running")], total: 2 }), whole);
    expect(ids(folded.pages)).toBe("bc");
    expect(folded.pages[0]?.total).toBe(2);
    expect(folded.isStale).toBe(false);
  });

  it("reloads if a row was moved", () => {
    expect(foldFrame([page(rows)], delta({ changed: [row("c", 0)] }), whole).isStale).toBe(true);
  });

  it("appends a new last row, counts one after the loaded ones, and reloads for one in between", () => {
    const added = delta({ changed: [row("d", 3)], total: 4 });
    expect(ids(foldFrame([page(rows)], added, whole).pages)).toBe("abcd");
    const more = foldFrame([page(rows, { next: "x", total: 900 })], delta({ changed: [row("z", 900)], total: 901 }), whole);
    expect([ids(more.pages), more.pages[0]?.total, more.isStale]).toEqual(["abc", 901, false]);
    expect(foldFrame([page(rows)], delta({ changed: [row("d", 1)], total: 4 }), whole).isStale).toBe(true);
  });

  it("removes a row that no longer matches the filter, and updates the total", () => {
    const folded = foldFrame([page(rows, { next: "x", total: 50 })], delta({ changed: [row("b", 1, "running")], total: 400 }), onlyQueued);
    expect([ids(folded.pages), folded.pages[0]?.total, folded.isStale]).toEqual(["ac", 49, false]);
  });

  it("reloads if a filtered list may have lost a row that is not loaded", () => {
    expect(foldFrame([page(rows, { next: "x", total: 50 })], delta({ removed: ["q"] }), onlyQueued).isStale).toBe(true);
    expect(foldFrame([page(rows)], delta({ removed: ["q"] }), onlyQueued).isStale).toBe(false);
  });

  it("reloads if the frame has no rows or only the server can decide", () => {
    expect(foldFrame([page(rows)], delta({ changed: null }), whole).isStale).toBe(true);
    expect(foldFrame([page(rows)], delta({ kind: "snapshot" }), whole).isStale).toBe(true);
    expect(foldFrame([page(rows)], delta({ changed: [row("d", 3)] }), { ...whole, belongs: () => null }).isStale).toBe(true);
  });

  it("equals a fresh page after many frames", () => {
    let server = Array.from({ length: 30 }, (_, at) => row(`r${at}`, at));
    let pages = [page(server.slice(0, 10), { next: "1", total: 30, seq: 0 }), page(server.slice(10, 20), { next: "2", total: 30, seq: 0 })];
    for (let seq = 1; seq <= 15; seq += 1) {
      const [first] = server;
      server = [...server.slice(1), row(`n${seq}`, server.length - 1)].map((item, at) => ({ ...item, at }));
      const [head, last] = [{ ...server[0], state: `${seq}` } as Row, server.at(-1) as Row];
      server[0] = head;
      const folded = foldFrame(pages, { kind: "delta", seq, total: 30, changed: [head, last], removed: [first?.id ?? ""] }, whole);
      expect(folded.isStale).toBe(false);
      pages = folded.pages;
    }
    const shown = pages.flatMap((one) => one.items);
    expect(shown.map(({ id }) => id)).toEqual(server.slice(0, shown.length).map(({ id }) => id));
    expect(shown[0]?.state).toBe("15");
  });
});

describe("useLiveList", () => {
  it("folds frames that arrived during a request, and reloads once for many frames", async () => {
    const events = fakeEvents();
    const answers: ((value: ListPage<Row>) => void)[] = [];
    let asked = 0;
    function Page() {
      const list = useLiveList<Row, ListPage<Row>, "queue">({
        key: ["list"],
        topic: "queue",
        rules: whole,
        load: () => {
          asked += 1;
          return new Promise((answer) => answers.push(answer));
        },
      });
      return <output>{list.rows.map(({ id, state }) => `${id}:${state}`).join(" ")}</output>;
    }
    renderAt("/", <Page />);
    await waitFor(() => expect(events.hears("queue")).toBe(true));
    act(() => events.send("queue", delta({ changed: [row("a", 0, "running")], total: 1 })));
    await act(async () => answers[0]?.(page([row("a", 0)], { total: 1 })));
    await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent("a:running"));

    act(() => {
      for (let seq = 12; seq < 32; seq += 1) events.send("queue", delta({ seq, changed: null }));
    });
    await waitFor(() => expect(asked).toBe(2));
    await act(async () => answers[1]?.(page([row("b", 0)], { total: 1, seq: 40 })));
    await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent("b:queued"));
    expect(asked).toBe(2);
  });
});

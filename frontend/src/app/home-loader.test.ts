import { afterEach, describe, expect, it, vi } from "vitest";
import { queryClient } from "@/lib/query-client";
import { homeLoader } from "./home-loader";

const load = () => homeLoader({ request: new Request("http://sluice.test/") } as Parameters<typeof homeLoader>[0]);

afterEach(() => {
  queryClient.clear();
  vi.useRealTimers();
});

describe("the way to the overview", () => {
  it("waits for the answers, so that the page is drawn once", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ seq: 1, samples: [] })));
    await load();
    expect(queryClient.isFetching()).toBe(0);
    expect(queryClient.getQueryCache().getAll().map((query) => query.state.status)).toEqual(["success", "success", "success"]);
  });

  it("goes on without answers that take their time", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", () => new Promise(() => undefined));
    const loading = load();
    await vi.advanceTimersByTimeAsync(150);
    await loading;
    expect(queryClient.isFetching()).toBe(3);
  });
});

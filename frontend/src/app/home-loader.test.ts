import { afterEach, describe, expect, it, vi } from "vitest";
import { queryClient } from "@/lib/query-client";
import { homeLoader } from "./home-loader";

const load = () => homeLoader();

afterEach(() => {
  queryClient.clear();
  vi.useRealTimers();
});

describe("the loader of Home", () => {
  it("waits for the answer, so that the page renders once", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ seq: 1 })));
    await load();
    expect(queryClient.isFetching()).toBe(0);
    expect(queryClient.getQueryCache().getAll().map((query) => query.state.status)).toEqual(["success"]);
  });

  it("does not wait for a slow answer", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", () => new Promise(() => undefined));
    const loading = load();
    await vi.advanceTimersByTimeAsync(150);
    await loading;
    expect(queryClient.isFetching()).toBe(1);
  });
});

import { describe, expect, it, vi } from "vitest";
import { mockApi, problem } from "@/testing/mock-api";
import { api, dataOf, onUnauthorized, postForEvents, postForm } from "./api-client";
import { ApiProblem } from "./api-problem";

const login = { user: "admin", password: "x" };

describe("api", () => {
  it("returns the body of an answer", async () => {
    mockApi({ "GET /api/session": { user: "admin" } });
    expect(await dataOf(api.GET("/api/session"))).toEqual({ user: "admin" });
  });

  it("sends X-Csrf only with requests that change something", async () => {
    const calls = mockApi({ "GET /api/session": {}, "POST /api/session": {}, "POST /api/queue": {} });
    await api.GET("/api/session");
    await api.POST("/api/session", { body: login });
    await postForm("api/queue", new FormData(), new AbortController().signal);
    expect(calls.map((call) => call.headers.get("X-Csrf"))).toEqual([null, "1", "1"]);
  });

  it("throws the problem of a failed answer", async () => {
    mockApi({ "POST /api/session": problem(429, "too-many", "Wait a minute.", { user: ["No."] }, { "Retry-After": "60" }) });
    const error = await api.POST("/api/session", { body: login }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiProblem);
    expect(error).toMatchObject({ type: "too-many", title: "Wait a minute.", status: 429, retryAfter: 60 });
    expect((error as ApiProblem).field("user")).toBe("No.");
  });

  it("reports a server that does not answer", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
    await expect(api.GET("/api/session")).rejects.toMatchObject({ type: "unreachable", status: 0 });
  });

  it("reports an expired session, but not a wrong password", async () => {
    mockApi({ "GET /api/session": problem(401, "unauthorized", "No."), "POST /api/session": problem(401, "unauthorized", "Wrong.") });
    const handler = vi.fn();
    onUnauthorized(handler);
    await api.POST("/api/session", { body: login }).catch(() => undefined);
    expect(handler).not.toHaveBeenCalled();
    await api.GET("/api/session").catch(() => undefined);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it("yields the events of an answer, however they are split", async () => {
    const text = 'event: step\ndata: {"stage":"dns"}\n\n: comment\n\nevent: done\ndata: {"ok":\ndata: true}\n\n';
    for (const size of [1, 7, text.length]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
      const body = new ReadableStream<Uint8Array>({
        start(stream) {
          chunks.forEach((chunk) => stream.enqueue(new TextEncoder().encode(chunk)));
          stream.close();
        },
      });
      mockApi({ "POST /api/providers/test": () => new Response(body) });
      const events = [];
      for await (const event of postForEvents("api/providers/test", {}, new AbortController().signal)) events.push(event);
      expect(events).toEqual([
        { event: "step", data: { stage: "dns" } },
        { event: "done", data: { ok: true } },
      ]);
    }
  });
});

import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { mockApi } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import { t } from "./en";
import { draftOf, errorsOf, saveOf } from "./provider-draft";
import { tlsChange } from "./provider-fields";
import { ProviderForm } from "./provider-form";
import { actionOf } from "./test-walk";
import { type TestCause, outcomeSoFar, withStep } from "./use-provider-test";

const step = (stage: string, state: string, more: object = {}) => ({ stage, state, ms: 12, cause: null, sentence: null, value: null, ...more });

function events(...frames: [string, object][]): () => Response {
  const text = frames.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");
  return () => new Response(text, { headers: { "Content-Type": "text/event-stream" } });
}

async function fill() {
  await userEvent.type(screen.getByLabelText("Server"), "news.newshosting.com");
  await userEvent.type(screen.getByLabelText("Username"), "me");
  await userEvent.type(screen.getByLabelText("Password"), "pw");
  await userEvent.click(screen.getByRole("button", { name: "Test and continue" }));
}

describe("the form of a provider", () => {
  it("tests, adopts the number of connections and saves with one button", async () => {
    const calls = mockApi({
      "POST /api/providers/test": events(
        ["step", step("dns", "ok")], ["step", step("ceiling", "ok", { value: 50 })], ["done", { ok: true, connections: 50, bytesPerSecond: 8_000_000 }],
      ),
      "POST /api/providers": { id: "1", name: "Newshosting" },
    });
    const onSaved = vi.fn();
    renderAt("/setup", <ProviderForm row={null} isStep onSaved={onSaved} />);
    await fill();
    await waitFor(() => expect(onSaved).toHaveBeenCalledWith({ id: "1", name: "Newshosting" }, 50, 8_000_000));
    const saved: unknown = await calls.find((call) => call.url.endsWith("/api/providers"))?.json();
    expect(saved).toMatchObject({ host: "news.newshosting.com", port: 563, tls: true, maxConnections: 50, name: "Newshosting", backbone: null });
  });

  it("explains a failed test and focuses the field, without saving", async () => {
    const calls = mockApi({
      "POST /api/providers/test": events(
        ["step", step("login", "failed", { cause: "wrong-login", sentence: "481 rejected" })], ["done", { ok: false, connections: null, bytesPerSecond: null }],
      ),
    });
    renderAt("/setup", <ProviderForm row={null} isStep onSaved={() => undefined} />);
    await fill();
    expect(await screen.findByRole("alert")).toHaveTextContent(/Wrong username or password.*481 rejected/);
    await userEvent.click(screen.getByRole("button", { name: "Change the login" }));
    await waitFor(() => expect(screen.getByLabelText("Username")).toHaveFocus());
    expect(calls.some((call) => call.url.endsWith("/api/providers"))).toBe(false);
  });

  it("has a sentence, advice and an action for every cause", () => {
    for (const cause of Object.keys(actionOf) as TestCause[]) {
      for (const text of [t(`cause.${cause}`), t(`advice.${cause}`), t(`action.${actionOf[cause]}`)]) expect(text).toMatch(/\w/);
    }
  });
});

describe("a draft of a provider", () => {
  it("requires missing values, and the password if the server has changed", () => {
    expect(Object.keys(errorsOf({ ...draftOf(null), port: "0" }, null))).toEqual(["host", "port"]);
    const row = { host: "a.example", port: 563, tls: true, hasPassword: true } as Parameters<typeof errorsOf>[1];
    const draft = { ...draftOf(null), host: "a.example", user: "me" };
    expect(errorsOf(draft, row)).toEqual({});
    expect(Object.keys(errorsOf({ ...draft, host: "b.example" }, row))).toEqual(["password"]);
    expect(saveOf(draft).password).toBeNull();
  });

  it("switches the usual port with the encryption, and keeps any other port", () => {
    expect(tlsChange(draftOf(null), false)).toEqual({ tls: false, port: "119" });
    expect(tlsChange({ ...draftOf(null), port: "8443" }, false)).toEqual({ tls: false });
  });
});

describe("a stopped test", () => {
  it("counts as passed once the number of connections is known", () => {
    const steps = withStep(withStep([], step("ceiling", "running") as never), step("ceiling", "ok", { value: 30 }) as never);
    expect(steps).toHaveLength(1);
    expect(outcomeSoFar(steps)).toEqual({ ok: true, connections: 30, bytesPerSecond: null });
    expect(outcomeSoFar([step("login", "ok") as never])).toBeNull();
  });
});

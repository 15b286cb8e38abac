import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ServerWatch } from "./server-watch";

function watchOf(answers: (string | null)[], ownBuild: string | null = "one") {
  const reload = vi.fn();
  const reloaded = new Set<string>();
  const build = vi.fn(() => Promise.resolve(answers.length > 1 ? (answers.shift() ?? null) : (answers[0] ?? null)));
  const wasReloadedFor = (why: string) => {
    const was = reloaded.has(why);
    reloaded.add(why);
    return was;
  };
  return { watch: new ServerWatch({ build, ownBuild, reload, wasReloadedFor }), reload, build };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("ServerWatch", () => {
  it("polls until the server answers, then notifies the callers and stops", async () => {
    const { watch, build } = watchOf([null, null, "one"]);
    const back = vi.fn();
    watch.onBack(back);
    watch.reportAway();
    expect(watch.state()).toBe("away");
    await vi.advanceTimersByTimeAsync(800);
    expect(back).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([watch.state(), back.mock.calls.length]).toEqual(["here", 1]);
    const asked = build.mock.calls.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(build).toHaveBeenCalledTimes(asked);
  });

  it("reports another build, and notices a second restart", async () => {
    const { watch } = watchOf(["two"]);
    watch.reportAway();
    await vi.advanceTimersByTimeAsync(300);
    expect(watch.state()).toBe("updated");
    watch.reportAway();
    expect(watch.state()).toBe("away");
    await vi.advanceTimersByTimeAsync(300);
    expect(watch.state()).toBe("updated");
  });

  it("reloads the tab once for another build, and never while something would be lost", async () => {
    const { watch, reload } = watchOf(["two"]);
    const release = watch.hold(() => true);
    await watch.askForBuild();
    expect([watch.state(), reload.mock.calls.length]).toEqual(["updated", 0]);
    release();
    await watch.askForBuild();
    await watch.askForBuild();
    expect(reload).toHaveBeenCalledTimes(1);
  });

  it("counts a missing part as away until it is found, and does not reload in development", async () => {
    const { watch, reload } = watchOf(["other"], null);
    const part = {};
    watch.reportMissing(part);
    expect([await watch.askForBuild(), watch.state()]).toEqual([true, "away"]);
    watch.found(part);
    expect([watch.state(), reload.mock.calls.length]).toEqual(["here", 0]);
  });
});

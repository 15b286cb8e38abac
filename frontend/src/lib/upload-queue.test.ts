import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiProblem } from "./api-problem";
import { type Accepted, UploadQueue } from "./upload-queue";

const files = (count: number) => Array.from({ length: count }, (_, at) => new File(["x"], `${at}.nzb`));
const taken = (file: File): Accepted => ({ ids: [file.name], names: [file.name], failures: [""] });

describe("UploadQueue", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("sends one request per file, in the order of the drop", async () => {
    const arrived: string[] = [];
    const queue = new UploadQueue(async (file) => {
      // Later files must not overtake a slow early one.
      await new Promise((done) => setTimeout(done, file.name === "0.nzb" ? 1_000 : 10));
      arrived.push(file.name);
      return taken(file);
    });
    queue.add(files(10));
    await vi.runAllTimersAsync();
    expect(arrived).toEqual(files(10).map(({ name }) => name));
    expect(queue.state()).toMatchObject({ total: 10, accepted: 10, left: 0, refused: [] });
    expect(queue.state().items.ids).toHaveLength(10);
  });

  it("keeps the reason of each refused file and continues", async () => {
    const queue = new UploadQueue(async (file) => {
      if (file.name === "1.nzb") throw new ApiProblem("bad-input", "This is empty.", 400);
      return taken(file);
    });
    queue.add(files(3), [{ name: "a.txt", reason: "That file isn't an NZB." }]);
    await vi.runAllTimersAsync();
    expect(queue.state().accepted).toBe(2);
    expect(queue.state().refused).toEqual([
      { name: "a.txt", reason: "That file isn't an NZB." },
      { name: "1.nzb", reason: "This is empty." },
    ]);
  });

  it("separates items that failed at once", async () => {
    const queue = new UploadQueue(async () => ({ ids: ["a", "b"], names: ["One", "Two"], failures: ["", "The file is not an NZB (text)."] }));
    queue.add(files(1));
    await vi.runAllTimersAsync();
    expect(queue.state()).toMatchObject({ items: { ids: ["a"], names: ["One"] }, refused: [{ name: "Two", reason: "The file is not an NZB (text)." }] });
  });

  it.each([507, 503, 429, 0])("pauses on %i and resumes by itself without losing a file", async (status) => {
    let isFull = true;
    const queue = new UploadQueue(async (file) => {
      if (isFull) throw new ApiProblem("full", "The queue is full.", status, {}, 10);
      return taken(file);
    });
    queue.add(files(5));
    await vi.advanceTimersByTimeAsync(0);
    expect(queue.state()).toMatchObject({ left: 5, paused: { reason: "The queue is full." } });
    isFull = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(queue.state()).toMatchObject({ accepted: 5, left: 0, paused: null, refused: [] });
  });

  it("drops waiting files when it is canceled", async () => {
    const send = vi.fn((_: File, signal: AbortSignal) => new Promise<Accepted>((_, failed) => signal.addEventListener("abort", () => failed(signal.reason))));
    const queue = new UploadQueue(send);
    queue.add(files(5));
    queue.cancel();
    await vi.runAllTimersAsync();
    expect(send).toHaveBeenCalledTimes(1);
    expect(queue.state()).toMatchObject({ left: 0, accepted: 0, refused: [] });
  });
});

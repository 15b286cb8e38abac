import { afterEach, describe, expect, it, vi } from "vitest";
import { acceptDrops, hasKeptDrops, takeDrops } from "./page-drop";

let stop: () => void = () => undefined;
afterEach(() => stop());

/** Drags a file over the page or drops it. Returns whether the browser would open it. */
function drag(type: "dragover" | "drop"): boolean {
  const file = new File(["<nzb>"], "film.nzb");
  const event = new Event(type, { bubbles: true, cancelable: true });
  Object.assign(event, { dataTransfer: { types: ["Files"], items: [], files: [file] } });
  return document.body.dispatchEvent(event);
}

describe("files dropped on the page", () => {
  it("are not opened by the browser, and wait for the upload part", async () => {
    stop = acceptDrops();
    expect([drag("dragover"), drag("drop"), hasKeptDrops()]).toEqual([false, false, true]);
    const onFiles = vi.fn();
    const end = takeDrops({ onOver: () => undefined, onFiles });
    expect(hasKeptDrops()).toBe(false);
    const [kept] = onFiles.mock.calls[0] as [Promise<File[]>];
    expect((await kept).map(({ name }) => name)).toEqual(["film.nzb"]);
    drag("drop");
    expect(onFiles).toHaveBeenCalledTimes(2);
    end();
  });
});

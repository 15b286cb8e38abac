import { render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { server } from "@/lib/server-watch";
import { late } from "./late";

const Dialog = ({ name }: { name: string }) => <p>{name}</p>;
const index = '<link rel="modulepreload" href="./assets/index.js">';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe("a lazily loaded part", () => {
  it("shows its placeholder until it is loaded", async () => {
    const Part = late(() => Promise.resolve(Dialog), { pending: ({ name }) => <i>{name} is coming</i> });
    render(<Part name="Menu" />);
    expect(screen.getByText("Menu is coming")).toBeInTheDocument();
    await screen.findByText("Menu");
  });

  it("loads by itself when the server is back, and keeps the page until then", async () => {
    let isHere = false;
    vi.stubGlobal("fetch", () => (isHere ? Promise.resolve(new Response(index)) : Promise.reject(new TypeError("Failed to fetch"))));
    const load = vi.fn(() => (isHere ? Promise.resolve(Dialog) : Promise.reject(new TypeError("Failed to fetch dynamically imported module"))));
    const Part = late(load);
    render(
      <main>
        <h1>Files</h1>
        <Part name="Menu" />
      </main>,
    );
    await vi.waitFor(() => expect(server.state()).toBe("away"));
    expect(screen.getByRole("heading", { name: "Files" })).toBeInTheDocument();
    isHere = true;
    await screen.findByText("Menu");
    expect([server.state(), load.mock.calls.length]).toEqual(["here", 2]);
  });

  it("catches its own errors", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const Broken = late<object>(() =>
      Promise.resolve(() => {
        throw new Error("no");
      }),
    );
    render(
      <main>
        <h1>Files</h1>
        <Broken />
      </main>,
    );
    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    expect(screen.getByRole("heading", { name: "Files" })).toBeInTheDocument();
  });
});

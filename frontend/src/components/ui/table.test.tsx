import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { Table } from "./table";

const rows = Array.from({ length: 5_000 }, (_, at) => ({ id: String(at), name: `row ${at}` }));

function Page({ onOpen, onSort }: { onOpen?: (name: string) => void; onSort?: (sort: string) => void }) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return (
    <>
      <Table
        label="Rows"
        rows={rows}
        rowKey={(row) => row.id}
        rowName={(row) => row.name}
        columns={[{ name: "name", header: "Name", isSortable: true, cell: (row) => row.name }]}
        sort="name"
        onSort={onSort}
        selection={{ ids, onChange: setIds }}
        onOpen={(row) => onOpen?.(row.name)}
        empty={<p>nothing</p>}
      />
      <output>{[...ids].join(",")}</output>
    </>
  );
}

const isPhone = (answer: boolean) => {
  window.matchMedia = (query) =>
    ({ matches: answer, media: query, addEventListener: () => undefined, removeEventListener: () => undefined }) as unknown as MediaQueryList;
};

describe("Table", () => {
  beforeEach(() => isPhone(false));

  it("renders only visible rows, and states the number of all", () => {
    renderAt("/", <Page />);
    expect(screen.getByRole("table", { name: "Rows" })).toHaveAttribute("aria-rowcount", "5001");
    expect(screen.getAllByRole("row").length).toBeLessThan(80);
  });

  it("reverses the current order on a second click", async () => {
    const onSort = vi.fn();
    renderAt("/", <Page onSort={onSort} />);
    expect(screen.getByRole("columnheader", { name: "Name" })).toHaveAttribute("aria-sort", "ascending");
    await userEvent.click(screen.getByRole("button", { name: "Name" }));
    expect(onSort).toHaveBeenCalledExactlyOnceWith("-name");
  });

  it("ticks a row with x, a range with X, and opens with Enter", async () => {
    const onOpen = vi.fn();
    renderAt("/", <Page onOpen={onOpen} />);
    const row = (at: number) => screen.getAllByRole("row")[at + 1] as HTMLElement;
    row(1).focus();
    await userEvent.keyboard("x");
    row(3).focus();
    await userEvent.keyboard("X");
    expect(screen.getByRole("status")).toHaveTextContent("1,2,3");
    await userEvent.keyboard("{Enter}");
    expect(onOpen).toHaveBeenCalledExactlyOnceWith("row 3");
    await userEvent.click(within(row(2)).getByRole("checkbox", { name: "Select row 2" }));
    expect(screen.getByRole("status")).toHaveTextContent("1,3");
  });

  it("is a list of cards on phones", () => {
    isPhone(true);
    renderAt("/", <Page />);
    expect(screen.queryByRole("table")).toBeNull();
    expect(within(screen.getByRole("list", { name: "Rows" })).getAllByRole("listitem").length).toBeLessThan(80);
  });
});

import { act, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderAt } from "@/testing/render";
import { type ListUrl, useListUrl } from "./list-url";

let list: ListUrl<"q" | "state">;

function List() {
  const now = useListUrl({ filters: ["q", "state"], sort: "-added" });
  return <button onClick={() => (list = now)}>{JSON.stringify([now.filters, now.sort, now.page, now.isFiltered])}</button>;
}

const read = () => {
  act(() => screen.getByRole("button").click());
  return JSON.parse(screen.getByRole("button").textContent) as unknown;
};

it("keeps filter, sort and page in the address", () => {
  const { router } = renderAt("/queue?state=paused&page=3&other=1", <List />);
  expect(read()).toEqual([{ state: "paused" }, "-added", 3, true]);
  act(() => list.setFilter("q", "bunny"));
  expect(router.state.location.search).toBe("?state=paused&other=1&q=bunny");
  read();
  act(() => list.setSort("name"));
  expect(read()).toEqual([{ q: "bunny", state: "paused" }, "name", 1, true]);
  act(() => list.clear());
  expect(router.state.location.search).toBe("?other=1&sort=name");
});

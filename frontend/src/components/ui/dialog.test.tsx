import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import { renderAt } from "@/testing/render";
import { Dialog } from "./dialog";
import { Menu } from "./menu";

function Page() {
  const [isOpen, setOpen] = useState(false);
  const [chosen, choose] = useState("");
  return (
    <>
      <button onClick={() => setOpen(true)}>open</button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Delete it?" description="It goes to quarantine.">
        <button>yes</button>
      </Dialog>
      <Menu label="Actions" items={async () => [{ label: "Retry", onSelect: () => choose("retry") }]} />
      <output>{chosen}</output>
    </>
  );
}

it("a dialog has a name, takes the focus and returns it", async () => {
  renderAt("/", <Page />);
  const opener = screen.getByRole("button", { name: "open" });
  await userEvent.click(opener);
  const dialog = await screen.findByRole("dialog", { name: "Delete it?" });
  expect(dialog).toHaveAccessibleDescription("It goes to quarantine.");
  expect(dialog).toContainElement(document.activeElement as HTMLElement);
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(opener).toHaveFocus();
});

it("a menu opens by its button, acts, and returns the focus", async () => {
  renderAt("/", <Page />);
  const button = screen.getByRole("button", { name: "Actions" });
  await userEvent.click(button);
  expect(button).toHaveAttribute("aria-expanded", "true");
  await userEvent.click(await screen.findByRole("menuitem", { name: "Retry" }));
  expect(screen.getByRole("status")).toHaveTextContent("retry");
  expect(button).toHaveAttribute("aria-expanded", "false");
  expect(button).toHaveFocus();
});

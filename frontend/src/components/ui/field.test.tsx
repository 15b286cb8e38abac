import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { PasswordField, TextField } from "./text-field";
import { Toaster } from "./toaster";
import { dismissToast, toast } from "@/lib/toast";

it("links label, help and error to the text box", () => {
  render(<TextField label="Host" help="The name of the server." error="There is no such host." />);
  const box = screen.getByRole("textbox", { name: "Host" });
  expect(box).toBeInvalid();
  expect(box).toHaveAccessibleDescription("There is no such host. The name of the server.");
});

it("shows a password on demand", async () => {
  render(<PasswordField label="Password" />);
  const box = screen.getByLabelText("Password");
  expect(box).toHaveAttribute("type", "password");
  await userEvent.click(screen.getByRole("button", { name: "Show password" }));
  expect(box).toHaveAttribute("type", "text");
});

it("announces good news politely and bad news at once", () => {
  render(<Toaster />);
  let ids: string[] = [];
  act(() => {
    ids = [toast({ title: "480 queued", tone: "ok" }), toast({ title: "Nothing left", tone: "bad" })];
  });
  expect(screen.getByRole("status")).toHaveTextContent("480 queued");
  expect(screen.getByRole("alert")).toHaveTextContent("Nothing left");
  act(() => ids.forEach(dismissToast));
  expect(screen.getByRole("alert")).toBeEmptyDOMElement();
});

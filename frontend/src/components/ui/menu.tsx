import { EllipsisVertical } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { IconButton } from "./button";
import { late } from "./late";
import type { MenuItem } from "./menu-item";

const MenuBody = late(async () => (await import("./menu-body")).MenuBody);

/** Attributes and handlers that the button of a menu must have. */
export interface MenuTrigger {
  "aria-haspopup": "menu";
  "aria-expanded": boolean;
  onClick: () => void;
  onPointerEnter: () => void;
}

interface MenuProps {
  label: string;
  /** The entries, or a function that creates or loads them when the menu opens. */
  items: readonly MenuItem[] | (() => readonly MenuItem[] | Promise<readonly MenuItem[]>);
  /** Renders the button; three dots if unset. */
  trigger?: (wiring: MenuTrigger) => ReactNode;
  align?: "start" | "end";
}

/** A list of actions behind a button, loaded on first use. */
export function Menu({ label, items, trigger, align = "end" }: MenuProps) {
  const [shown, setShown] = useState<readonly MenuItem[] | null>(null);
  const place = useRef<HTMLSpanElement>(null);
  async function open() {
    setShown(await (typeof items === "function" ? items() : items));
  }
  const wiring: MenuTrigger = {
    "aria-haspopup": "menu",
    "aria-expanded": shown !== null,
    onClick: () => void (shown ? setShown(null) : open()),
    onPointerEnter: () => MenuBody.prefetch(),
  };
  return (
    <span ref={place} className="relative inline-flex">
      {trigger ? trigger(wiring) : <IconButton icon={EllipsisVertical} label={label} {...wiring} />}
      {shown && <MenuBody label={label} items={shown} align={align} place={place} onClose={() => setShown(null)} />}
    </span>
  );
}

import { EllipsisVertical } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { IconButton } from "./button";
import { late } from "./late";
import type { MenuItem } from "./menu-item";

const MenuBody = late(async () => (await import("./menu-body")).MenuBody);

/** What the button of a menu has to have. */
export interface MenuTrigger {
  "aria-haspopup": "menu";
  "aria-expanded": boolean;
  onClick: () => void;
  onPointerEnter: () => void;
}

interface MenuProps {
  label: string;
  /** Entries; or what makes or loads them once it opens. */
  items: readonly MenuItem[] | (() => readonly MenuItem[] | Promise<readonly MenuItem[]>);
  /** The button; three dots without it. */
  trigger?: (wiring: MenuTrigger) => ReactNode;
  align?: "start" | "end";
}

/** A list of actions behind a button, loaded with its first use. */
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

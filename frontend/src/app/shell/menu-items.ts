import { LatePart } from "@/lib/late-parts";

/** The entries of the menus of the frame. */
export const menuItems = new LatePart(() => import("./user-items"));

import { LatePart } from "@/lib/late-parts";

/** The entries of the user and theme menus. */
export const menuItems = new LatePart(() => import("./user-items"));

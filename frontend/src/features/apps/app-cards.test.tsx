import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeEvents } from "@/testing/fake-events";
import { mockApi } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import type { AccessCard } from "./api/apps";
import { AppCards } from "./app-cards";

const card: AccessCard = {
  address: "http://nas:3000", urlBase: "", isLoopback: false, lanAddresses: [], composeAddress: "http://sluice:3000", port: 3000, webDavUser: "admin",
  sabKey: "key", mountDir: "/mnt/sluice", strmFolder: null, categories: ["tv", "movies"], oldRclone: null,
};

/** Opens the rclone card on a page that had seen no rclone when it was loaded. */
async function openRclone(oldRclone: string | null) {
  fakeEvents();
  const answers = [card, { ...card, oldRclone }];
  const calls = mockApi({
    "GET /api/access": () => answers.shift() ?? card,
    "GET /api/session": { user: "admin" },
    "GET /api/setup/webdav": { user: "admin", password: null },
    "GET /api/arr": { items: [], locked: null },
  });
  renderAt("/setup?step=apps", <AppCards />);
  const details = (await screen.findByText("rclone")).closest("details");
  if (!details) throw new Error("rclone has no card");
  details.open = true;
  fireEvent(details, new Event("toggle"));
  await screen.findByText("Links need rclone 1.70.3 or newer.");
  await expect.poll(() => calls.filter((call) => call.url.endsWith("/api/access")).length).toBe(2);
}

describe("The card of rclone", () => {
  it("names a version that is too old for links when the card opens", async () => {
    await openRclone("1.60.1");
    expect(await screen.findByText(/^rclone 1\.60\.1 is too old to support links/)).toBeVisible();
  });

  it("asks the user to check a version that Debian's package hides", async () => {
    await openRclone("");
    expect(await screen.findByText(/^The connected rclone doesn't report its version/)).toBeVisible();
  });

  it("does not mention versions unless one is too old", async () => {
    await openRclone(null);
    expect(screen.queryByText(/too old to support links/)).toBeNull();
  });
});

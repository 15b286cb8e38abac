import { act, fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { type FakeEvents, fakeEvents } from "@/testing/fake-events";
import { mockApi } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import type { AccessCard } from "./api/apps";
import { AppCards } from "./app-cards";

const card: AccessCard = {
  address: "http://nas:3000", urlBase: "", isLoopback: false, lanAddresses: [], composeAddress: "http://sluice:3000", port: 3000, webDavUser: "player",
  sabKey: "key", mountDir: "/mnt/sluice", strmFolder: null, categories: ["tv", "movies"], oldRclone: null,
};

const sonarr = { id: "1", kind: "sonarr", name: "Sonarr", url: "http://sonarr:8989", category: "tv", lastCheck: null, state: "ok", sentence: null };

/** Answers whether Sonarr sees the files: one value per request, the last one repeatedly. */
function found(...sees: boolean[]) {
  return () => {
    const now = (sees.length > 1 ? sees.shift() : sees[0]) === true;
    return { ok: now, sees: now, ourPath: "/mnt/sluice", theirPath: "/mnt/sluice", sentence: now ? "Sonarr sees the links." : "Sonarr can't see /mnt/sluice yet.", volumeLine: null };
  };
}

async function openCard(how: { card?: Partial<AccessCard>; items?: object[]; sees?: boolean[] } = {}): Promise<FakeEvents> {
  const events = fakeEvents();
  mockApi({
    "GET /api/access": { ...card, ...how.card },
    "GET /api/session": { user: "ada" },
    "GET /api/setup/webdav": { user: "player", password: "correct horse" },
    "GET /api/arr": { items: how.items ?? [], locked: null },
    "POST /api/arr/path-check": found(...(how.sees ?? [false])),
  });
  renderAt("/setup?step=apps", <AppCards />);
  await screen.findByText("Does it work?");
  await expect.poll(() => events.hears("clients")).toBe(true);
  return events;
}

const opened = "2026-11-28T12:00:00Z";

function send(events: FakeEvents, at: string, ...items: { name: string; address: string; lastAt: string }[]) {
  act(() => events.send("clients", { kind: "delta", seq: 1, at, items }));
}

const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

describe("The card of the mount", () => {
  it("asks first, and shows one file for each place", async () => {
    await openCard();
    expect(screen.queryByText(/^services:/)).toBeNull();

    press("In Docker on this machine");
    expect(screen.getByText(/^services:[^]*RCLONE_CONFIG_SLUICE_URL: http:\/\/nas:3000 [^]*jellyfin/)).toBeVisible();
    fireEvent.click(screen.getByRole("switch", { name: /^Add Sonarr/ }));
    expect(screen.queryByText(/jellyfin/)).toBeNull();
    expect(screen.getByText("- /mnt/sluice:/mnt/sluice:rslave")).toBeVisible();

    press("On this machine, without Docker");
    expect(screen.getByText(/sluice-mount\.service[^]*systemctl restart sluice-mount/)).toBeVisible();

    press("On a NAS");
    fireEvent.change(screen.getByLabelText("Your NAS"), { target: { value: "unraid" } });
    expect(screen.getByText(/^services:[^]*PUID: 99 /)).toBeVisible();
    expect(screen.getByText("mount --make-rshared /")).toBeVisible();

    press("On another machine");
    press("Without Docker");
    expect(screen.getByText(/url = http:\/\/nas:3000\/[^]*systemctl/)).toBeVisible();
    expect(screen.getByText(/need no remote path mapping/)).toBeVisible();
  });

  it("explains both logins in a line each", async () => {
    await openCard();
    expect(await screen.findByText((_, line) => line?.tagName === "LI" && line.textContent === "Yours (ada) opens this web interface.")).toBeVisible();
    expect(screen.getByText((_, line) => line?.tagName === "LI" && line.textContent.startsWith("The players' (player) only opens films over WebDAV"))).toBeVisible();
  });

  it("shows Sonarr's mapping if it imports .strm files from another machine", async () => {
    await openCard({ card: { strmFolder: "/data/strm" } });
    press("On another machine");
    expect(screen.getByText("Remote Path").nextSibling).toHaveTextContent("/data/strm/");
    press("In Docker on this machine");
    expect(screen.getByText("- /data/strm:/data/strm")).toBeVisible();
  });
});

describe("The lamps of the mount", () => {
  it("report both steps as missing, then one of them, then success", async () => {
    const events = await openCard({ items: [sonarr], sees: [false, false, true] });
    const old = { name: "rclone 1.66", address: "192.168.1.5", lastAt: "2026-11-28T11:59:00Z" };
    send(events, opened, old);
    await screen.findByText("Sonarr can't see /mnt/sluice yet.");
    expect(screen.getByText(/^The mount is still missing\./)).toBeVisible();
    expect(screen.getByText("No request yet")).toBeVisible();

    send(events, "2026-11-28T12:00:08Z", { name: "curl 8.7", address: "192.168.1.9", lastAt: "2026-11-28T12:00:07Z" }, { ...old, lastAt: "2026-11-28T12:00:05Z" });
    expect(screen.getByText("rclone 1.66 at 192.168.1.5, 3 sec ago")).toBeVisible();
    expect(await screen.findByText(/^The mount works, but Sonarr can't see the files yet\.$/)).toBeVisible();

    await expect.poll(() => screen.getByRole("button", { name: "Check again" }).getAttribute("aria-busy")).not.toBe("true");
    press("Check again");
    expect(await screen.findByText(/^Everything works\./)).toBeVisible();
    expect(screen.queryByRole("button", { name: "Check again" })).toBeNull();
  });

  it("report a missing connection while no program is connected", async () => {
    const events = await openCard();
    send(events, opened);
    send(events, "2026-11-28T12:00:02Z", { name: "VLC 3.0.20", address: "192.168.1.7", lastAt: "2026-11-28T12:00:01Z" });
    expect(screen.getByText("The mount works, but Sonarr and Radarr aren't connected yet. Connect one below.")).toBeVisible();
    expect(screen.getByText("None connected")).toBeVisible();
  });

  it("report only a missing request if Sonarr sees the files already", async () => {
    const events = await openCard({ items: [sonarr], sees: [true] });
    send(events, opened);
    expect(await screen.findByText("No player or mount has read from Sluice yet. Open a folder in /mnt/sluice.")).toBeVisible();
  });
});

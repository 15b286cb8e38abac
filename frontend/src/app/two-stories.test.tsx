import { cleanup, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { NowPlaying } from "@/features/home/components/now-playing";
import { StreamPage } from "@/features/streams/components/stream-page";
import type { Schema } from "@/lib/api-client";
import { fakeEvents } from "@/testing/fake-events";
import { mockApi } from "@/testing/mock-api";
import { renderAt } from "@/testing/render";
import openapi from "../../openapi.json";

type Detail = Schema<"StreamDetail">;
type Wait = Schema<"WaitReason">;

const started = "2026-01-01T10:00:00Z";
const reasons = openapi.components.schemas.WaitReason.enum as Wait[];
const units: Partial<Record<Wait, string>> = { "provider-slots": "connections", "line-full": "bytes-per-second", limit: "bytes-per-second", "other-streams": "streams", cpu: "percent" };

/** Creates a playback of a film of 1 GB that reads 2 MB a second. */
function playback(change: Partial<Schema<"StreamRow">>, missing = 0, inFlight = 0): Detail {
  const wait = change.wait ?? "none";
  const isShown = wait !== "none" && wait !== "provider-down";
  return {
    item: {
      id: "s1", file: { id: "f1", name: "film.mkv", path: "movies/Harbour.Lights.2024/film.mkv", bytes: 1e9, film: null, durationMs: null }, client: "10.0.0.2", player: "VLC",
      state: "playing", startedAt: started, lastReadAt: "2026-01-01T10:05:00Z", position: 2.5e8, aheadBytes: 5e7, bytesSent: 3e8, bytesPerSecond: 2e6, firstByteMs: 80,
      seeks: 0, wait, ...change,
    },
    map: { cells: "ddmm----", memoryBytes: 5e7, diskBytes: 1e8, inFlight, missing },
    articles: [], seeks: [], retries: 0, requests: 1, rates: [change.bytesPerSecond ?? 2e6],
    wait: { reason: wait, value: isShown ? 50 : null, unit: isShown ? (units[wait] ?? "ms") : null, since: started },
  };
}

/** Returns all combinations: paused, full buffer, slow provider, gaps, limit, just started, ended. */
function states(): Detail[] {
  const made: Detail[] = [];
  for (const wait of reasons) {
    for (const aheadBytes of [0, 1e6, 5e7, 7.5e8]) {
      for (const bytesPerSecond of [0, 2e6]) {
        for (const [missing, inFlight] of [[0, 0], [0, 4], [2, 0]] as const) made.push(playback({ wait, aheadBytes, bytesPerSecond }, missing, inFlight));
      }
      made.push(playback({ wait, aheadBytes, state: "paused", bytesPerSecond: 0 }));
    }
    made.push(playback({ wait, state: "ended", bytesPerSecond: 0, aheadBytes: 0 }), playback({ wait, lastReadAt: started, aheadBytes: 0 }, 0, 2));
  }
  return made;
}

const badges = ["Playing", "Paused", "Ended", "Starting", "Waiting", "Has gaps"];
const waitingTitles = ["Why it's waiting", "What's slowing it down"];

/** Renders both pages of a playback and returns their texts. */
async function told(detail: Detail) {
  fakeEvents();
  mockApi({ "GET /api/streams/s1": detail, "GET /api/session": { user: "admin", version: "1", mode: "normal", openTo: [], setup: "done" } });
  renderAt("/streams/s1", <StreamPage id="s1" />);
  await screen.findByText("Buffer map");
  const page = {
    badge: badges.find((badge) => screen.queryAllByText(badge, { selector: "span span" }).length > 0) ?? "",
    card: [...waitingTitles, "Not waiting for anything"].find((title) => screen.queryByRole("heading", { name: title })) ?? "",
    sentence: document.querySelector(".rounded-lg .text-ink.wrap-anywhere")?.textContent ?? "",
    hasAdvice: screen.queryByText(/^What to do/) !== null,
  };
  cleanup();
  renderAt("/", <NowPlaying pictures={[]} items={[detail.item]} scans={[]} />);
  const card = screen.getByRole("listitem");
  const home = { text: card.textContent ?? "", badge: [...badges].find((badge) => within(card).queryByText(badge, { selector: "span span" })) ?? "Waiting" };
  return { page, home };
}

afterEach(() => cleanup());

describe("the two pages of a playback agree", () => {
  const all = states();

  it("has over two hundred states", () => expect(all.length).toBeGreaterThan(200));

  it.each(all.map((detail, at) => [at, detail] as const))("in state %i", async (_, detail) => {
    const { page, home } = await told(detail);
    const { state, wait } = detail.item;
    const context = JSON.stringify({ page, home, item: detail.item, map: detail.map });

    // Badge: the same on both pages, except for gaps, which only the page of the stream knows.
    if (page.badge !== "Has gaps") expect(home.badge, context).toBe(page.badge);
    // Sentence: it begins like the badge.
    const begins: Record<string, RegExp> = {
      Playing: /^Playing/, Paused: /^Paused/, Ended: /ended/, Starting: /^Just started/, Waiting: /^Waiting/, "Has gaps": /missing on all providers/,
    };
    expect(page.sentence, context).toMatch(begins[page.badge] ?? /^$/);
    // Reason: named only if the playback waits, and always with advice.
    const isWaiting = waitingTitles.includes(page.card);
    expect(page.hasAdvice, context).toBe(isWaiting);
    if (page.badge === "Waiting") expect(page.card, context).toBe("Why it's waiting");
    if (isWaiting) expect([state, wait === "none" || wait === "player-slow"], context).toEqual(["playing", false]);
    if (page.badge === "Paused" || page.badge === "Ended") expect(page.card, context).toBe("Not waiting for anything");
    // Buffer: a small one is mentioned only while articles are in flight.
    if (/may stutter/.test(page.sentence)) expect(detail.map.inFlight, context).toBeGreaterThan(0);
    // Rate: left out if it is zero.
    expect(home.text, context).not.toContain("0 kB/s");
    if (home.badge === "Ended") expect(home.text, context).not.toContain("buffered");
  });
});

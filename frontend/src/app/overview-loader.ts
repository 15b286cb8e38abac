import type { LoaderFunctionArgs } from "react-router";
import { askAhead } from "@/features/overview/api/queries";
import { windowOf } from "@/features/overview/samples";

const patienceMs = 150;

/**
 * Asks while the page itself still comes, and waits for a moment: what is there when the page is drawn for the first time is drawn once. After that
 * its frame is worth more.
 */
export async function overviewLoader({ request }: LoaderFunctionArgs) {
  const answers = askAhead(windowOf(new URL(request.url).searchParams.get("window")));
  await Promise.race([answers, new Promise((done) => setTimeout(done, patienceMs))]);
  return null;
}

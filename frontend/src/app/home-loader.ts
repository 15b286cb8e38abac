import type { LoaderFunctionArgs } from "react-router";
import { askAhead } from "@/features/home/api/queries";
import { windowOf } from "@/features/home/samples";

const patienceMs = 150;

/**
 * Sends the requests of the home page together with that of the guard, before its scripts have come, and waits for their answers for at most
 * 150 ms: a page that has them at its first render draws no skeleton. After that the shell around it is worth more than one render less.
 */
export async function homeLoader({ request }: LoaderFunctionArgs) {
  const answers = askAhead(windowOf(new URL(request.url).searchParams.get("window")));
  await Promise.race([answers, new Promise((done) => setTimeout(done, patienceMs))]);
  return null;
}

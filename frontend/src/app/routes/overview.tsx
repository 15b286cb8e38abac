import type { LoaderFunctionArgs } from "react-router";
import { askAhead } from "@/features/overview/api/live";
import { windowOf } from "@/features/overview/samples";

export { OverviewPage as Component } from "@/features/overview/components/overview-page";

const patienceMs = 150;

/** Waits for a moment: what is there when the page is drawn for the first time is drawn once. After that its frame is worth more. */
export async function loader({ request }: LoaderFunctionArgs) {
  const answers = askAhead(windowOf(new URL(request.url).searchParams.get("window")));
  await Promise.race([answers, new Promise((done) => setTimeout(done, patienceMs))]);
  return null;
}

export const shouldRevalidate = () => false;

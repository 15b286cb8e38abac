import type { LoaderFunctionArgs } from "react-router";
import { askAhead } from "@/features/overview/api/live";
import { windowOf } from "@/features/overview/samples";

export { OverviewPage as Component } from "@/features/overview/components/overview-page";

/** Does not wait: the frame around the page is drawn meanwhile. */
export function loader({ request }: LoaderFunctionArgs) {
  askAhead(windowOf(new URL(request.url).searchParams.get("window")));
  return null;
}

export const shouldRevalidate = () => false;

import { useParams, useSearchParams } from "react-router";
import { late } from "@/components/ui/late";
import { FilesPage } from "@/features/files/files-page";

const RemovedPage = late(async () => (await import("@/features/files/removed-page")).RemovedPage, { isAhead: false });

export function Component() {
  const { "*": path = "" } = useParams();
  const [search] = useSearchParams();
  return search.get("view") === "removed" ? <RemovedPage /> : <FilesPage path={path.replace(/\/+$/, "")} />;
}

import { useParams } from "react-router";
import { FilesPage } from "@/features/files/files-page";

export function Component() {
  const { "*": path = "" } = useParams();
  return <FilesPage path={path.replace(/\/+$/, "")} />;
}

import { useParams } from "react-router";
import { HistoryPage } from "@/features/history/history-page";

export function Component() {
  const { id } = useParams();
  return <HistoryPage id={id} />;
}

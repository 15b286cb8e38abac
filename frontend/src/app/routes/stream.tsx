import { useParams } from "react-router";
import { StreamPage } from "@/features/streams/components/stream-page";

export function Component() {
  const { id = "" } = useParams();
  return <StreamPage key={id} id={id} />;
}

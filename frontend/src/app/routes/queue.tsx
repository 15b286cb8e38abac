import { QueuePage } from "@/features/queue/queue-page";

export function Component() {
  return <QueuePage />;
}

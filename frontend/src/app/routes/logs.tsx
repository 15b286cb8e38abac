export { LogsPage as Component } from "@/features/logs/components/logs-page";

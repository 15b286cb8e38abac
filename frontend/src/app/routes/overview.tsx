export { OverviewPage as Component } from "@/features/overview/components/overview-page";

export { ReceiptsPage as Component } from "@/features/receipts/receipts-page";

import { createTexts } from "@/lib/i18n/texts";

export const t = createTexts({
  title: "Search",
  hint: "Pages, files, jobs and settings",
});

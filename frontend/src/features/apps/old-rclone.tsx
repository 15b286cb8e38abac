import { useQuery } from "@tanstack/react-query";
import { Notice } from "@/components/ui/notice";
import { accessQuery } from "./api/apps";
import { t } from "./en";

/** Warns that the mount is too old for links, before the first release is grabbed. Checks again each time it is shown. */
export function OldRclone() {
  const { data } = useQuery({ ...accessQuery, refetchOnMount: "always" });
  if (data?.oldRclone == null) return null;
  return <Notice tone="warn">{data.oldRclone === "" ? t("rclone-unstated") : t("rclone-old", { version: data.oldRclone })}</Notice>;
}

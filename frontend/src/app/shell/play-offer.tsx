import { useEffect, useEffectEvent } from "react";
import { useNavigate } from "react-router";
import { filmOf, useFolder, useJob } from "@/lib/job";
import { toast } from "@/lib/toast";
import { t } from "../en";

const seconds = 30;

/** Follows one import and turns its toast into a button that plays the film, or into the reason of the failure. */
export function PlayOffer({ toastId, id, name, onEnd }: { toastId: string; id: string; name: string; onEnd?: () => void }) {
  const navigate = useNavigate();
  const { finished } = useJob(id, name);
  const folder = useFolder(finished?.path ?? null);
  const film = folder.data && filmOf(folder.data.items);
  const isFailed = finished !== undefined && finished.path === null;

  const tellFailure = useEffectEvent(() => {
    const show = { label: t("show-queue"), run: () => void navigate(`/history/${encodeURIComponent(id)}`) };
    toast({ id: toastId, tone: "bad", title: t("import-failed", { name: finished?.name ?? name }), body: finished?.sentence ?? "", action: show });
  });
  const offer = useEffectEvent((file: string) => {
    const folderOf = (finished?.path ?? "").split("/").map(encodeURIComponent).join("/");
    const play = { label: t("play"), run: () => void navigate(`/files/${folderOf}?play=${encodeURIComponent(file)}`) };
    const hasGaps = finished?.missingShare != null;
    toast({ id: toastId, tone: hasGaps ? "plain" : "ok", title: t(hasGaps ? "plays-with-gaps" : "can-be-played", { name: finished?.name ?? name }), action: play, seconds });
  });
  const file = film?.id ?? null;
  useEffect(() => {
    if (isFailed) tellFailure();
    else if (file !== null) offer(file);
  }, [isFailed, file]);
  const isTold = isFailed || file !== null;
  const end = useEffectEvent(() => onEnd?.());
  useEffect(() => {
    if (isTold) end();
  }, [isTold]);
  return null;
}

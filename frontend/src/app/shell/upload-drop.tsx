import { Upload } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import { useNavigate } from "react-router";
import { Icon } from "@/components/ui/icon";
import { late } from "@/components/ui/late";
import { unfollowJob, useFollowedJobs } from "@/lib/followed-jobs";
import { takeDrops } from "@/lib/page-drop";
import { dismissToast, toast } from "@/lib/toast";
import { type UploadState, queueFiles, uploads, useUploads } from "@/lib/upload-queue";
import { t } from "../en";
import { BatchEnd } from "./batch-end";
import { PlayOffer } from "./play-offer";

const RefusedDialog = late(async () => (await import("./refused-dialog")).RefusedDialog);

const toastId = "uploads";
const batchToastId = "batch";

/** Uploads NZBs, files and folders that are dropped anywhere, and reports their progress in one toast. */
export function UploadDrop() {
  const state = useUploads();
  const navigate = useNavigate();
  const [isOver, setOver] = useState(false);
  const [refused, setRefused] = useState<UploadState["refused"] | null>(null);

  const take = useEffectEvent(async (dropped: Promise<File[]>) => {
    const files = await dropped;
    if (files.length === 0) toast({ id: toastId, title: t("upload-none"), body: t("upload-none-body") });
    else await queueFiles(files, t("not-an-nzb"));
  });

  useEffect(() => takeDrops({ onOver: setOver, onFiles: (files) => void take(files) }), []);

  const tell = useEffectEvent((now: UploadState) => {
    if (now.total === 0) return dismissToast(toastId);
    if (now.paused) {
      const title = t("upload-paused", { reason: now.paused.reason });
      const stop = { label: t("upload-stop"), run: () => uploads.cancel() };
      return void toast({ id: toastId, title, body: t("upload-left", { count: now.left }), action: stop, seconds: null });
    }
    if (now.left > 0) return void toast({ id: toastId, title: t("uploading", { count: now.left }), seconds: null });
    const count = now.items.ids.length;
    if (now.refused.length > 0) {
      const reasons = { label: t("show-reasons"), run: () => setRefused(now.refused) };
      return void toast({ id: toastId, tone: "bad", title: t("queued-refused", { count, refused: now.refused.length }), action: reasons, seconds: null });
    }
    if (count === 0) return dismissToast(toastId);
    toast({ id: toastId, tone: "ok", title: t("queued", { count }), action: { label: t("show-queue"), run: () => void navigate("/queue") } });
  });
  useEffect(() => tell(state), [state]);

  const followed = useFollowedJobs();
  // With several NZBs the toast cannot tell which one to play.
  const { ids } = state.items;
  const [single] = state.left === 0 && state.refused.length === 0 && ids.length === 1 ? ids : [];
  return (
    <>
      {single !== undefined && <PlayOffer key={single} toastId={toastId} id={single} name={state.items.names[0] ?? single} />}
      {state.left === 0 && ids.length > 1 && <BatchEnd key={ids[0]} toastId={batchToastId} ids={ids} />}
      {followed.map((job) => (
        <PlayOffer key={job.id} {...job} onEnd={() => unfollowJob(job.id)} />
      ))}
      {isOver && (
        <div className="pointer-events-none fixed inset-3 z-60 flex animate-fade items-center justify-center gap-3 rounded-xl border-2 border-dashed border-accent bg-accent-soft/95 text-xl font-semibold text-accent">
          <Icon of={Upload} size={28} />
          {t("drop-here")}
        </div>
      )}
      {refused && <RefusedDialog refused={refused} onClose={() => setRefused(null)} />}
    </>
  );
}

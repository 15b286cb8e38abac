import { useState } from "react";
import { Dialog } from "@/components/ui/dialog";
import { Failure } from "@/components/ui/failure";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { useClip } from "../api/live";
import { t } from "../first-steps-en";

/** Plays the clip that is part of the server. */
export function ClipDialog({ onClose }: { onClose: () => void }) {
  const { data, error, refetch } = useClip();
  const [isBroken, setBroken] = useState(false);
  return (
    <Dialog isOpen onClose={onClose} title={t("clip")} description={t("clip-help")} size="lg">
      {error ? (
        <Failure title={ApiProblem.from(error).title} onRetry={() => void refetch()} />
      ) : isBroken ? (
        <Notice tone="warn" isAlert>
          {t("clip-failed")}
        </Notice>
      ) : data ? (
        <video className="aspect-video w-full rounded-lg bg-[#000]" src={sameOrigin(data.links.signed)} controls autoPlay playsInline onError={() => setBroken(true)} />
      ) : (
        <Skeleton className="aspect-video" />
      )}
    </Dialog>
  );
}

/** The link by the address of this page: the server may name another one of its addresses, which the page must not read from. */
function sameOrigin(link: string): string {
  const url = new URL(link, document.baseURI);
  return url.pathname + url.search;
}

import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Dot } from "@/components/ui/badge";
import { ApiProblem } from "@/lib/api-problem";
import { type Frame, useTopic } from "@/lib/events";
import { formatDuration } from "@/lib/format";
import { arrQuery, checkPath } from "./api/apps";
import { t } from "./mount-en";
import { OldRclone } from "./old-rclone";

/** Interval in ms at which a program is checked once a mount reads, because other programs send no events. */
const checkMs = 10_000;

/** Returns the client that has read Sluice since the page was opened, preferably rclone. `ago` is in ms. */
function useFirstClient() {
  const [opened, setOpened] = useState<number | null>(null);
  const [frame, setFrame] = useState<Frame<"clients"> | null>(null);
  useTopic("clients", (now) => {
    setOpened((before) => before ?? Date.parse(now.at));
    setFrame(now);
  });
  if (frame === null || opened === null) return null;
  const since = frame.items.filter((client) => Date.parse(client.lastAt) > opened);
  const client = since.find(({ name }) => name.startsWith("rclone")) ?? since[0];
  return client ? { ...client, ago: Date.parse(frame.at) - Date.parse(client.lastAt) } : null;
}

/** Shows whether a client reads Sluice and whether each connected program sees its files. Below, a sentence names the missing step. */
export function MountLamps({ folder }: { folder: string }) {
  const client = useFirstClient();
  const isRead = client !== null;
  const arr = useQuery(arrQuery);
  const programs = arr.data?.items ?? [];
  const checks = useQueries({
    queries: programs.map(({ id }) => ({
      // Part of the key, so that the first read repeats the check at once: the mount is new then.
      queryKey: ["arr", "sees", id, isRead],
      queryFn: ({ signal }: { signal: AbortSignal }) => checkPath(id, signal),
      placeholderData: keepPreviousData,
      retry: false,
      refetchInterval: (query: { state: { data?: { sees: boolean } } }) => (isRead && query.state.data?.sees !== true ? checkMs : (false as const)),
    })),
  });
  const blind = programs.filter((_, at) => checks[at]?.data?.sees !== true);
  return (
    <section aria-labelledby="mount-status" className="grid gap-3 rounded-lg border border-line bg-raised px-3.5 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 id="mount-status" className="flex-1 font-medium">
          {t("status")}
        </h3>
        {blind.length > 0 && (
          <Button size="sm" isBusy={checks.some((check) => check.isFetching)} onClick={() => checks.forEach((check) => void check.refetch())}>
            {t("check-again")}
          </Button>
        )}
      </div>
      <ul className="grid gap-2">
        <Lamp
          isOn={isRead}
          label={t("lamp-client")}
          detail={client ? t("lamp-client-on", { name: client.name, address: client.address, ago: formatDuration(Math.max(1_000, Math.round(client.ago / 1_000) * 1_000)) }) : t("lamp-client-off")}
        />
        {programs.map(({ id, name }, at) => {
          const check = checks[at];
          const detail = check?.error ? ApiProblem.from(check.error).title : (check?.data?.sentence ?? t("lamp-arr-checking"));
          return <Lamp key={id} isOn={check?.data?.sees === true} label={t("lamp-arr", { name })} detail={detail} />;
        })}
        {programs.length === 0 && <Lamp isOn={false} label={t("lamp-arr-none")} detail={t("lamp-arr-none-off")} />}
      </ul>
      {client?.name.startsWith("rclone") && <OldRclone key={client.name} />}
      <p role="status" className="text-sm text-pretty">
        {missing(isRead, programs.length, blind.map(({ name }) => name), folder)}
      </p>
    </section>
  );
}

function missing(isRead: boolean, programs: number, blind: string[], folder: string): string {
  const isSeen = programs > 0 && blind.length === 0;
  if (!isRead) return t(isSeen ? "missing-client" : "missing-both", { folder });
  if (isSeen) return t("all-there", { folder });
  return programs === 0 ? t("missing-connection") : t("missing-arr", { names: blind.join(", ") });
}

function Lamp({ isOn, label, detail }: { isOn: boolean; label: string; detail: string }) {
  return (
    <li className="flex items-start gap-2.5">
      <span className="flex h-6 items-center">
        <Dot tone={isOn ? "ok" : "neutral"} />
      </span>
      <span className="min-w-0 flex-1 wrap-anywhere">
        <span className="font-medium">{label}</span>
        <span className="sr-only">: {t(isOn ? "lamp-on" : "lamp-off")}</span>
        <span className="block text-sm text-muted">{detail}</span>
      </span>
    </li>
  );
}

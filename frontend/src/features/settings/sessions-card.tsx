import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { LogOut, MonitorSmartphone } from "lucide-react";
import { useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Dialog } from "@/components/ui/dialog";
import { Icon } from "@/components/ui/icon";
import { Notice } from "@/components/ui/notice";
import { SkeletonRows } from "@/components/ui/skeleton";
import { type Schema, api } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { formatAgo, formatDateTime } from "@/lib/format";
import { toast } from "@/lib/toast";
import { sessionsQuery } from "./api/settings";
import { browserOf } from "./browser-name";
import { t } from "./en";

type SessionEntry = Schema<"SessionEntry">;

/** Lists the logged-in browsers, with a button to log each one out. */
export function SessionsCard() {
  const sessions = useQuery({ ...sessionsQuery, staleTime: 0 });
  const [ended, setEnded] = useState<SessionEntry | null>(null);
  return (
    <Card title={t("sessions")}>
      <p className="mb-3 text-sm text-muted">{t("sessions-help")}</p>
      {sessions.isPending && <SkeletonRows rows={2} />}
      {sessions.error && (
        <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => void sessions.refetch()}>{t("try-again")}</Button>}>
          {ApiProblem.from(sessions.error).title}
        </Notice>
      )}
      <ul className="divide-y divide-line">
        {sessions.data?.items.map((entry) => (
          <li key={entry.id} className="flex items-center gap-3 py-2">
            <Icon of={MonitorSmartphone} className="text-muted" />
            <div className="min-w-0 flex-1">
              <p className="flex flex-wrap items-center gap-2 font-medium">
                <span className="wrap-anywhere">{nameOf(entry)}</span>
                {entry.current && <Badge tone="accent">{t("session-current")}</Badge>}
              </p>
              <p className="text-sm text-muted">
                {t("session-used", { ago: formatAgo(entry.lastUsed) })} · {t("session-created", { ago: formatAgo(entry.created) })} ·{" "}
                {t("session-ends", { date: formatDateTime(entry.ends) })}
              </p>
            </div>
            {!entry.current && <IconButton icon={LogOut} label={t("session-end-of", { name: nameOf(entry) })} onClick={() => setEnded(entry)} />}
          </li>
        ))}
      </ul>
      <EndSession entry={ended} onClose={() => setEnded(null)} />
    </Card>
  );
}

function EndSession({ entry, onClose }: { entry: SessionEntry | null; onClose: () => void }) {
  const client = useQueryClient();
  const name = entry ? nameOf(entry) : "";
  const end = useMutation({
    mutationFn: (id: string) => api.DELETE("/api/sessions/{id}", { params: { path: { id } } }),
    onSuccess: () => {
      toast({ title: t("session-ended", { name }) });
      onClose();
    },
    onError: (error) => void toast({ tone: "bad", title: ApiProblem.from(error).title }),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  return (
    <Dialog
      isOpen={entry !== null}
      onClose={onClose}
      size="sm"
      title={t("session-end-title", { name })}
      description={t("session-end-body")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button tone="danger" isBusy={end.isPending} onClick={() => entry && end.mutate(entry.id)}>
            {t("session-end")}
          </Button>
        </>
      }
    />
  );
}

/** Returns the name of a session, as in "Firefox on Linux at 192.168.1.20". */
function nameOf({ agent, address }: SessionEntry): string {
  const browser = browserOf(agent) ?? t("session-unknown");
  return address === "" ? browser : t("session-of", { agent: browser, address });
}

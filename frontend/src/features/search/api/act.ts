import type { NavigateFunction } from "react-router";
import { type Schema, api, dataOf, postForEvents } from "@/lib/api-client";
import { ApiProblem } from "@/lib/api-problem";
import { attempt } from "@/lib/attempt";
import { formatRate } from "@/lib/format";
import { listChanged } from "@/lib/live-list";
import { logOut } from "@/lib/log-out";
import { queryClient } from "@/lib/query-client";
import { theme } from "@/lib/theme";
import { toast } from "@/lib/toast";
import type { Act, Provider } from "../commands";
import { t } from "../en";

/** Runs a command and reports its result in a toast. */
export async function carryOut(act: Act, navigate: NavigateFunction): Promise<void> {
  switch (act.kind) {
    case "theme":
      return theme.set(act.theme);
    case "log-out":
      return logOut(navigate);
    case "pause":
      return done(await attempt(api.POST("/api/queue/pause", { body: { minutes: act.minutes } }), t("failed-act")), t("paused"), "queue");
    case "resume":
      return done(await attempt(api.POST("/api/queue/resume"), t("failed-act")), t("resumed"), "queue");
    case "retry-failed": {
      const retried = await attempt(dataOf(api.POST("/api/history/retry", { body: { filter: { result: "failed" } } })), t("failed-act"));
      return done(retried, t("retried", { count: retried?.count ?? 0 }), "history");
    }
    case "set": {
      const saved = await attempt(api.PUT("/api/settings", { body: { values: { [act.key]: act.value } } }), t("failed-act"));
      if (!saved) return;
      toast({ tone: "ok", title: t("set-done", { title: act.title }) });
      return queryClient.invalidateQueries({ queryKey: ["settings", "values"] });
    }
    case "test":
      return test(act.provider);
  }
}

function done(answer: unknown, title: string, list: "queue" | "history"): void {
  if (answer === null) return;
  toast({ tone: "ok", title });
  listChanged(list);
}

type Outcome = Schema<"ProviderTestOutcome">;

async function test({ id, name, host, port, tls, user, skipsCertificateCheck }: Provider): Promise<void> {
  // Null tests the saved password.
  const request: Schema<"ProviderTest"> = { id, host, port, tls, user, password: null, skipsCertificateCheck };
  const toastId = `test ${id}`;
  toast({ id: toastId, title: t("testing", { name }), seconds: null });
  try {
    let outcome: Outcome | null = null;
    for await (const { event, data } of postForEvents<Outcome>("api/providers/test", request, new AbortController().signal)) if (event === "done") outcome = data;
    if (!outcome?.ok) return void toast({ id: toastId, tone: "bad", title: t("test-failed", { name }) });
    const rate = outcome.bytesPerSecond === null ? "" : formatRate(outcome.bytesPerSecond);
    toast({ id: toastId, tone: "ok", title: t("test-ok", { name }), body: [t("connections", { count: outcome.connections ?? 0 }), rate].filter((part) => part !== "").join(", ") });
  } catch (error) {
    toast({ id: toastId, tone: "bad", title: t("test-failed", { name }), body: ApiProblem.from(error).title });
  }
}

import { server, useServerState } from "@/lib/server-watch";
import { t } from "./en";

/** Reports in one line, above dialogs too, that the server is away or has a later build. */
export function ServerLine() {
  const state = useServerState();
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 top-(--bar) z-70 flex justify-center p-2 empty:hidden">
      {state !== "here" && (
        // Appears late, because most connections are back before anyone has to read about it.
        <p className="pointer-events-auto flex animate-[fade_150ms_800ms_both] items-center gap-3 rounded-full bg-ink px-4 py-1.5 text-sm font-medium text-canvas shadow-float">
          {t(state === "away" ? "server-away" : "server-updated")}
          {state === "updated" && (
            <button type="button" className="-my-1.5 min-h-8 font-semibold underline touch:min-h-11" onClick={() => server.reload()}>
              {t("reload")}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

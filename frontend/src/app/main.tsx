import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import { late } from "@/components/ui/late";
import { onUnauthorized } from "@/lib/api-client";
import { applyLocale } from "@/lib/i18n/locale";
import { prefetchWhenIdle } from "@/lib/late-parts";
import { queryClient } from "@/lib/query-client";
import { onReload, server } from "@/lib/server-watch";
import { pressKey } from "@/lib/shortcuts";
import { applyTheme, theme } from "@/lib/theme";
import { useToasts } from "@/lib/toast";
import { t } from "./en";
import { loginPath } from "./guard";
import { router } from "./router";
import { ServerLine } from "./server-line";

const Toaster = late(async () => (await import("@/components/ui/toaster")).Toaster);

/** Loads the toaster with the first toast. */
function Toasts() {
  const [isUsed, setUsed] = useState(false);
  const isShown = useToasts().length > 0;
  if (isShown && !isUsed) setUsed(true);
  return isUsed && <Toaster />;
}

theme.subscribe(applyTheme);
window.addEventListener("keydown", pressKey);
onReload(() => {
  const { location: next } = router.state.navigation;
  return next ? new URL(router.createHref(next), document.baseURI).href : null;
});

onUnauthorized(() => {
  // The guard handles the first load, because it knows whether there is a login at all.
  if (!router.state.initialized || router.state.navigation.state !== "idle") return;
  const { pathname, search } = router.state.location;
  if (pathname === "/login" || pathname === "/setup") return;
  queryClient.clear();
  void router.navigate(loginPath(pathname + search), { replace: true });
});

function start(): void {
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <ServerLine />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  );
}

/** Renders the app once the first page is loaded; until then the frame of index.html is shown. */
function startOnceReady(): void {
  if (router.state.initialized) return start();
  const endTelling = server.subscribe(() => {
    const words = document.querySelector(".frame p");
    if (words) words.textContent = server.state() === "away" ? t("server-away") : t("loading");
  });
  const stop = router.subscribe((state) => {
    if (!state.initialized) return;
    stop();
    endTelling();
    start();
  });
}

void applyLocale().then(startOnceReady);
void prefetchWhenIdle();

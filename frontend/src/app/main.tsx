import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import { api, onUnauthorized } from "@/lib/api-client";
import { hub } from "@/lib/events";
import { applyLocale } from "@/lib/i18n/locale";
import { queryClient } from "@/lib/query-client";
import { pressKey } from "@/lib/shortcuts";
import { applyTheme, theme } from "@/lib/theme";
import { Toaster } from "@/components/ui/toast";
import { loginPath } from "./guard";
import { router } from "./router";

applyLocale();
theme.subscribe(applyTheme);
window.addEventListener("keydown", pressKey);

onUnauthorized(() => {
  // The first load is the guard's, which knows whether there is a login at all.
  if (!router.state.initialized || router.state.navigation.state !== "idle") return;
  const { pathname, search } = router.state.location;
  if (pathname === "/login" || pathname === "/setup") return;
  queryClient.clear();
  void router.navigate(loginPath(pathname + search), { replace: true });
});

// An event stream shows no status: a call that needs the session does.
hub.onRefused = () => void api.GET("/api/session").catch(() => undefined);

function start(): void {
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toaster />
      </QueryClientProvider>
    </StrictMode>,
  );
}

// The frame of index.html stays until the first page is there.
if (router.state.initialized) start();
else {
  const stop = router.subscribe((state) => {
    if (!state.initialized) return;
    stop();
    start();
  });
}

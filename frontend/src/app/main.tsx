import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode, Suspense, lazy, useState } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import { onUnauthorized } from "@/lib/api-client";
import { applyLocale } from "@/lib/i18n/locale";
import { queryClient } from "@/lib/query-client";
import { pressKey } from "@/lib/shortcuts";
import { applyTheme, theme } from "@/lib/theme";
import { useToasts } from "@/lib/toast";
import { loginPath } from "./guard";
import { router } from "./router";

const Toaster = lazy(() => import("@/components/ui/toaster").then((module) => ({ default: module.Toaster })));

/** The corner of toasts, from the first one on. */
function Toasts() {
  const [isUsed, setUsed] = useState(false);
  const isShown = useToasts().length > 0;
  if (isShown && !isUsed) setUsed(true);
  return <Suspense fallback={null}>{isUsed && <Toaster />}</Suspense>;
}

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

function start(): void {
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  );
}

/** Starts as soon as the first page is there; until then the frame of index.html stands. */
function startOnceReady(): void {
  if (router.state.initialized) return start();
  const stop = router.subscribe((state) => {
    if (!state.initialized) return;
    stop();
    start();
  });
}

void applyLocale().then(startOnceReady);

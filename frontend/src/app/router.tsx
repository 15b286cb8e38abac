import { createBrowserRouter } from "react-router";
import { basePath } from "@/lib/url-base";
import { guard } from "./guard";
import { overviewLoader } from "./overview-loader";
import { BareRouteError, NotFound, RouteError } from "./route-error";

const pages = [
  { index: true, loader: overviewLoader, shouldRevalidate: () => false, lazy: { Component: async () => (await import("./routes/overview")).Component } },
  { path: "streams/:id", lazy: () => import("./routes/stream") },
  { path: "files/*", lazy: () => import("./routes/files") },
  { path: "queue", lazy: () => import("./routes/queue") },
  { path: "history/:id?", lazy: () => import("./routes/history") },
  { path: "logs", lazy: () => import("./routes/logs") },
  { path: "settings/:group?", lazy: () => import("./routes/settings") },
  { path: "*", Component: NotFound },
] as const;

export const router = createBrowserRouter(
  [
    { path: "/login", lazy: () => import("./routes/login"), ErrorBoundary: BareRouteError },
    { path: "/setup", lazy: () => import("./routes/setup"), ErrorBoundary: BareRouteError },
    {
      path: "/",
      loader: guard,
      shouldRevalidate: () => false,
      // Comes while the guard asks for the session.
      lazy: { Component: async () => (await import("./shell/shell")).Shell },
      ErrorBoundary: BareRouteError,
      children: pages.map((page) => ({ ...page, ErrorBoundary: RouteError })),
    },
  ],
  { basename: basePath() || "/" },
);

import { createBrowserRouter } from "react-router";
import { LatePart } from "@/lib/late-parts";
import { basePath } from "@/lib/url-base";
import { guard, guardLogin } from "./guard";
import { homeLoader } from "./home-loader";
import { BareRouteError, NotFound, RouteError } from "./route-error";

// A page that cannot load while the server is away loads when it is back; until then the previous page stays. Pages that most visits need are
// loaded ahead, in at most 100 KB together with the dialogs and menus.
const shell = new LatePart(() => import("./shell/shell"));
const home = new LatePart(() => import("./routes/home"));
const pages = {
  files: new LatePart(() => import("./routes/files")),
  queue: new LatePart(() => import("./routes/queue")),
  history: new LatePart(() => import("./routes/history")),
  receipts: new LatePart(() => import("./routes/receipts"), false),
  stream: new LatePart(() => import("./routes/stream"), false),
  logs: new LatePart(() => import("./routes/logs"), false),
  settings: new LatePart(() => import("./routes/settings"), false),
  login: new LatePart(() => import("./routes/login"), false),
  setup: new LatePart(() => import("./routes/setup"), false),
  rescue: new LatePart(() => import("./routes/rescue"), false),
};

const framed = [
  { index: true, loader: homeLoader, shouldRevalidate: () => false, lazy: { Component: async () => (await home.get()).Component } },
  { path: "streams/receipts", lazy: pages.receipts.get },
  { path: "streams/:id", lazy: pages.stream.get },
  { path: "files/*", lazy: pages.files.get },
  { path: "queue", lazy: pages.queue.get },
  { path: "history/:id?", lazy: pages.history.get },
  { path: "logs", lazy: pages.logs.get },
  { path: "settings/:group?", lazy: pages.settings.get },
  { path: "*", Component: NotFound },
] as const;

export const router = createBrowserRouter(
  [
    { path: "/login", loader: guardLogin, lazy: { Component: async () => (await pages.login.get()).Component }, ErrorBoundary: BareRouteError },
    { path: "/rescue", lazy: pages.rescue.get, ErrorBoundary: BareRouteError },
    { path: "/setup", lazy: pages.setup.get, ErrorBoundary: BareRouteError },
    {
      path: "/",
      loader: guard,
      shouldRevalidate: () => false,
      // Loads while the guard asks for the session.
      lazy: { Component: async () => (await shell.get()).Shell },
      ErrorBoundary: BareRouteError,
      children: framed.map((page) => ({ ...page, ErrorBoundary: RouteError })),
    },
  ],
  { basename: basePath() || "/" },
);

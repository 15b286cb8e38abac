import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Outlet, ScrollRestoration, useNavigate } from "react-router";
import { late } from "@/components/ui/late";
import { useFirstTouch } from "@/lib/first-touch";
import { useHeadingFocus } from "@/lib/focus-heading";
import { acceptDrops } from "@/lib/page-drop";
import { sessionQuery } from "@/lib/session";
import { useShortcut } from "@/lib/shortcuts";
import { keepTypedText } from "@/lib/typed-text";
import { keepTyping } from "@/lib/typed-ahead";
import { t } from "../en";
import { BottomBar } from "./bottom-bar";
import { pages } from "./pages";
import { Rail } from "./rail";
import { onOpenShortcuts } from "./shortcuts-dialog-state";
import { TopBar } from "./top-bar";

const SearchDialog = late(async () => (await import("@/features/search/search-dialog")).SearchDialog);
const UploadDrop = late(async () => (await import("./upload-drop")).UploadDrop);
const ShellNotice = late(async () => (await import("./shell-notice")).ShellNotice);
const ShortcutsDialog = late(async () => (await import("./shortcuts-dialog")).ShortcutsDialog);

/** The frame around every page after the login. */
export function Shell() {
  const { data: session } = useQuery(sessionQuery);
  const [dialog, setDialog] = useState<"search" | "shortcuts" | null>(null);
  const main = useRef<HTMLElement>(null);
  const search = () => {
    if (dialog === null) keepTyping();
    setDialog("search");
  };
  const isTouched = useFirstTouch();
  useHeadingFocus();
  useShortcut("mod+k", t("search"), search);
  useShortcut("/", t("search"), search);
  useShortcut("?", t("shortcuts"), () => setDialog("shortcuts"));
  useEffect(() => onOpenShortcuts(() => setDialog("shortcuts")), []);
  useEffect(acceptDrops, []);
  useEffect(keepTypedText, []);
  return (
    <div className="ps-(--rail)">
      <button
        type="button"
        onClick={() => main.current?.focus()}
        className="fixed start-4 top-2 z-50 -translate-y-20 rounded-md bg-accent-fill px-4 py-2 font-medium text-accent-ink touch:min-h-11 focus:translate-y-0"
      >
        {t("skip-to-content")}
      </button>
      <Rail version={session?.version ?? ""} />
      <TopBar onSearch={search} />
      <main ref={main} tabIndex={-1} className="mx-auto min-h-[calc(100dvh-var(--bar))] max-w-[90rem] px-4 pt-5 pb-[calc(var(--tabs)+2rem)] lg:px-8 lg:pt-7">
        {session?.mode === "safe" && <ShellNotice text={t("safe-mode")} to="/rescue" way={t("open-rescue")} />}
        {session && session.openTo.length > 0 && (
          <ShellNotice text={t("open-tree", { networks: session.openTo.join(", ") })} to="/settings?q=webdav.no-auth-networks" way={t("who-may-read")} />
        )}
        <Outlet />
      </main>
      <BottomBar />
      {pages.map((page) => (
        <GoTo key={page.name} keys={`g ${page.key}`} label={t("go-to", { page: t(page.name) })} path={page.path} />
      ))}
      <ScrollRestoration />
      {isTouched && <UploadDrop />}
      {dialog === "search" && (
        <SearchDialog pages={pages.map((page) => ({ label: t(page.name), path: page.path, icon: page.icon }))} onClose={() => setDialog(null)} />
      )}
      {dialog === "shortcuts" && <ShortcutsDialog onClose={() => setDialog(null)} />}
    </div>
  );
}

function GoTo({ keys, label, path }: { keys: string; label: string; path: string }) {
  const navigate = useNavigate();
  useShortcut(keys, label, () => void navigate(path));
  return null;
}

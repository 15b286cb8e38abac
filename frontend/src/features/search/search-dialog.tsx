import { Plug, Server, SlidersHorizontal, UserRound, WandSparkles } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { useNavigate } from "react-router";
import { Dialog } from "@/components/ui/dialog";
import { Icon } from "@/components/ui/icon";
import { TextField } from "@/components/ui/text-field";
import { ApiProblem } from "@/lib/api-problem";
import { cx } from "@/lib/cx";
import { takeTyped } from "@/lib/typed-ahead";
import { carryOut } from "./api/act";
import { useFound, useProviders, useSettingFields } from "./api/search";
import { type Command, commandsOf } from "./commands";
import { t } from "./en";
import { type Place, type Result, filesOf, historyOf, placesOf, playedWords, playsOf, queueOf, settingsOf } from "./results";

const pauseMs = 120;

/** Searches pages, files, jobs and settings, and runs commands such as "pause 1h", "dark" or "max connections 30". */
export function SearchDialog({ pages, onClose }: { pages: readonly Place[]; onClose: () => void }) {
  const navigate = useNavigate();
  const list = useId();
  const [text, setText] = useState("");
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useFound(playedWords(query) ?? query, playedWords(query) !== null);
  const fields = useSettingFields();
  const typed = text.trim();
  const providers = useProviders();
  const toPlay = playedWords(typed) === null ? null : playsOf(found.data?.files ?? []);
  const results: (Result | Command)[] = toPlay ?? [
    ...commandsOf(typed, { providers: providers.data?.items ?? [], fields: fields.data?.items ?? [] }),
    ...placesOf([...pages, ...(typed === "" ? [] : places())], typed),
    ...settingsOf(fields.data?.items ?? [], typed),
    ...(typed === "" || !found.data ? [] : [...filesOf(found.data.files), ...queueOf(found.data.queue), ...historyOf(found.data.history)]),
  ];
  const at = Math.min(chosen, results.length - 1);
  const isSearching = typed !== "" && (found.isFetching || query !== typed);

  function open(result: Result | Command | undefined) {
    if (!result) return;
    onClose();
    if ("act" in result) void carryOut(result.act, navigate);
    else void navigate(result.path);
  }

  function press(event: KeyboardEvent) {
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (next !== undefined && results.length > 0) {
      event.preventDefault();
      const index = (next + results.length) % results.length;
      setChosen(index);
      document.getElementById(`${list}-${index}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(results[at]);
    }
  }

  return (
    <Dialog isOpen onClose={onClose} title={t("title")} size="md">
      <div className="grid gap-3">
        <TextField
          type="search"
          label={t("title")}
          isLabelHidden
          placeholder={t("hint")}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          role="combobox"
          aria-expanded={results.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={results[at] ? `${list}-${at}` : undefined}
          value={text}
          onFocus={() => setText(text + takeTyped())}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(0);
          }}
          onKeyDown={press}
        />
        <p role="status" className="sr-only">
          {isSearching ? t("searching") : t("count", { count: results.length })}
        </p>
        {found.error && typed !== "" && <p className="text-sm text-warn">{t("failed", { reason: ApiProblem.from(found.error).title })}</p>}
        <div role="listbox" id={list} aria-label={t("results")} className="grid min-h-40 content-start">
          {results.map((result, index) => (
            <Line
              key={result.id}
              id={`${list}-${index}`}
              result={result}
              isFirstOfGroup={results[index - 1]?.group !== result.group}
              isChosen={index === at}
              onPoint={() => setChosen(index)}
              onOpen={() => open(result)}
            />
          ))}
        </div>
        {results.length === 0 && (
          <div className="-mt-36 mb-8 text-center">
            <p className="font-medium wrap-anywhere">{isSearching ? t("searching") : t("none", { query: typed })}</p>
            {!isSearching && <p className="text-sm text-muted">{t("none-help")}</p>}
          </div>
        )}
        <p className="border-t border-line pt-2 text-xs text-muted touch:hidden">{t("keys")}</p>
      </div>
    </Dialog>
  );
}

interface LineProps {
  id: string;
  result: Result | Command;
  isFirstOfGroup: boolean;
  isChosen: boolean;
  onPoint: () => void;
  onOpen: () => void;
}

function Line({ id, result, isFirstOfGroup, isChosen, onPoint, onOpen }: LineProps) {
  return (
    <>
      {isFirstOfGroup && (
        <p aria-hidden className="px-2 pt-2 pb-1 text-xs font-semibold text-muted">
          {t(`group.${result.group}`)}
        </p>
      )}
      <div
        id={id}
        role="option"
        aria-selected={isChosen}
        onPointerMove={onPoint}
        onClick={onOpen}
        className={cx("flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2 py-1 touch:min-h-11", isChosen && "bg-accent-soft")}
      >
        <Icon of={result.icon} className={isChosen ? "text-accent" : "text-muted"} />
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{result.label}</span>
          {result.detail !== "" && <span className="block truncate text-sm text-muted">{result.detail}</span>}
        </span>
      </div>
    </>
  );
}

/** Returns the places that the navigation does not list. */
function places(): Place[] {
  return [
    { label: t("place.setup"), path: "/setup", icon: WandSparkles },
    { label: t("place.apps"), path: "/setup?step=apps", icon: Plug },
    { label: t("place.providers"), path: "/settings/providers", icon: Server },
    { label: t("place.account"), path: "/settings/account", icon: UserRound },
    { label: t("place.system"), path: "/settings/system", icon: SlidersHorizontal },
  ];
}

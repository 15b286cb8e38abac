import { useQueryClient } from "@tanstack/react-query";
import { Captions, Copy, Download, ExternalLink, File, FileCode, Film, Folder, Image, Info, Library, Link2, ListVideo, type LucideIcon, Music, Play, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { Link, type To, useNavigate } from "react-router";
import { Badge } from "@/components/ui/badge";
import { IconButton } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import type { MenuItem } from "@/components/ui/menu-item";
import { type Column, type Selection, Table } from "@/components/ui/table";
import { filmName, filmPart } from "@/lib/film";
import { formatAgo, formatBytes, formatDateTime, formatPercent } from "@/lib/format";
import { WindowLink } from "@/lib/url-param";
import { t } from "../en";
import { type FileRow, fileQuery } from "../api/files";
import { copy, copyArrPath, copySigned, copyWebDav, openInInfuse, openInVlc, saveFile, saveM3u, saveNzb, saveStrm, withFile } from "../api/file-actions";
import { folderPath, parentOf, webDavOf } from "../api/paths";
import { shareText } from "./gaps-notice";

interface FileTableProps {
  rows: readonly FileRow[];
  total: number;
  isSearch: boolean;
  sort: string;
  onSort: (sort: string) => void;
  isLoading: boolean;
  onEnd: () => void;
  onPlay: (id: string) => void;
  onDetails: (id: string) => void;
  onDelete: (row: FileRow) => void;
  selection: Selection;
  /** Returns the address of the details of a file. */
  detailsOf: (id: string) => To;
  empty: ReactNode;
}

/** The entries of a folder, or the results of a search. */
export function FileTable({ rows, total, isSearch, sort, onSort, isLoading, onEnd, onPlay, onDetails, onDelete, selection, detailsOf, empty }: FileTableProps) {
  const client = useQueryClient();
  const navigate = useNavigate();

  const hasTitles = rows.some((row) => row.kind === "release");
  const columns: Column<FileRow>[] = [
    {
      name: "name",
      header: t("name"),
      isSortable: true,
      card: "title",
      cell: (row) => <NameCell row={row} isSearch={isSearch} onPlay={onPlay} detailsOf={detailsOf} />,
    },
    {
      name: "quality",
      header: t("quality"),
      width: "11rem",
      cell: (row) => row.film?.quality ?? "",
    },
    {
      name: "codec",
      header: t("codec"),
      width: "9rem",
      card: "none",
      cell: (row) => row.details?.video ?? row.details?.audio ?? "",
    },
    {
      name: "size",
      header: t("size"),
      align: "end",
      width: "7rem",
      isSortable: true,
      cell: (row) => (row.bytes === null ? "" : formatBytes(row.bytes)),
    },
    {
      name: "newest",
      header: t("age"),
      align: "end",
      width: "9rem",
      isSortable: true,
      cell: (row) => (
        <time dateTime={row.modifiedAt} title={formatDateTime(row.modifiedAt)}>
          {formatAgo(row.modifiedAt)}
        </time>
      ),
    },
  ];

  function open(row: FileRow) {
    const id = filmOf(row);
    if (id === null) void navigate(folderPath(row.path));
    else onDetails(id);
  }

  function menu(row: FileRow): MenuItem[] {
    const { id } = row;
    const remove: MenuItem = { label: t("delete"), icon: Trash2, tone: "danger", startsGroup: true, onSelect: () => onDelete(row) };
    if (id === null) {
      const { filmId } = row;
      return [
        ...(filmId === null ? [] : [
          { label: t("play"), icon: Play, onSelect: () => onPlay(filmId) },
          { label: t("details"), icon: Info, onSelect: () => onDetails(filmId) },
        ]),
        { label: t("open"), icon: Folder, onSelect: () => void navigate(folderPath(row.path)) },
        { label: t("copy-webdav"), icon: Copy, onSelect: () => void copy(webDavOf(row.path), t("copied-webdav")) },
        remove,
      ];
    }
    // Loaded when the menu opens, because browsers allow copying only right after a click.
    void client.prefetchQuery(fileQuery(id));
    const act = (label: string, icon: LucideIcon, run: Parameters<typeof withFile>[2], startsGroup = false): MenuItem => ({
      label, icon, startsGroup, onSelect: () => void withFile(client, id, run),
    });
    return [
      ...(isPlayable(row) ? [{ label: t("play"), icon: Play, onSelect: () => onPlay(id) }] : []),
      act(t("copy-webdav"), Copy, copyWebDav),
      act(t("copy-signed"), Link2, copySigned),
      act(t("copy-arr"), Library, copyArrPath),
      ...(isPlayable(row)
        ? [act(t("vlc"), ExternalLink, openInVlc, true), act(t("infuse"), ExternalLink, openInInfuse), act(t("m3u"), ListVideo, saveM3u), act(t("strm"), FileCode, saveStrm)]
        : []),
      act(t("download"), Download, saveFile, true),
      { label: t("nzb"), icon: Download, onSelect: () => saveNzb(id) },
      { label: t("details"), icon: Info, startsGroup: true, onSelect: () => onDetails(id) },
      remove,
    ];
  }

  return (
    <Table
      label={t("files")}
      rows={rows}
      columns={columns}
      rowKey={(row) => row.path}
      rowName={(row) => row.name}
      total={total}
      sort={sort === "name" ? "name" : `-${sort}`}
      onSort={(next) => onSort(next.replace(/^-/, ""))}
      menu={menu}
      onOpen={open}
      selection={selection}
      keys={{
        Delete: { label: t("delete"), run: onDelete },
        p: { label: t("play"), run: (row) => playedOf(row) !== null && onPlay(playedOf(row) ?? "") },
        c: {
          label: t("copy-webdav"),
          run: (row) => void (row.id === null ? copy(webDavOf(row.path), t("copied-webdav")) : withFile(client, row.id, copyWebDav)),
        },
      }}
      onEnd={onEnd}
      isLoading={isLoading}
      empty={empty}
      rowRem={isSearch || hasTitles ? 3.5 : 2.75}
      cardRem={isSearch ? 5.5 : 4.25}
    />
  );
}

const mediaIcons: Record<NonNullable<FileRow["media"]>, LucideIcon> = { video: Film, audio: Music, subtitle: Captions, image: Image, other: File };

/** Returns the file that a row stands for: itself, or the only film of a release. */
function filmOf(row: FileRow): string | null {
  return row.id ?? row.filmId;
}

/** Returns the file that Play opens; null if there is none. */
function playedOf(row: FileRow): string | null {
  return row.id === null ? row.filmId : isPlayable(row) ? row.id : null;
}

/** Whether browsers or players may be able to play it. */
export function isPlayable(row: FileRow): boolean {
  return row.media === "video" || row.media === "audio";
}

interface NameCellProps {
  row: FileRow;
  isSearch: boolean;
  onPlay: (id: string) => void;
  detailsOf: (id: string) => To;
}

function NameCell({ row, isSearch, onPlay, detailsOf }: NameCellProps) {
  const id = filmOf(row);
  const played = playedOf(row);
  const parent = parentOf(row.path);
  const isTitled = row.kind === "release" && row.film !== null;
  const name = isTitled ? filmName(row.film, row.name) : row.name;
  const part = isTitled ? filmPart(row.film) : "";
  const linkClass = "block h-6 max-w-full truncate text-start leading-6 font-medium touch:-my-2.5 touch:h-11 touch:leading-11";
  const words = (
    <span className="flex min-w-0">
      <span className="truncate">{name}</span>
      {part !== "" && <span className="ms-2 shrink-0 font-normal text-muted">{part}</span>}
    </span>
  );
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <Icon of={row.media ? mediaIcons[row.media] : row.filmId !== null ? Film : Folder} size={18} className={id === null ? "text-accent" : "text-muted"} />
      <span className="min-w-0 flex-1">
        {id === null ? (
          <Link to={folderPath(row.path)} className={linkClass} title={row.name}>
            {words}
          </Link>
        ) : (
          <WindowLink to={detailsOf(id)} className={linkClass} title={row.name}>
            {words}
          </WindowLink>
        )}
        {row.kind === "release" && !isSearch && <span className="hidden truncate text-sm font-normal text-muted sm:block">{subline(row)}</span>}
        {isSearch && parent !== "" && (
          <>
            <Link to={folderPath(parent)} className="hidden truncate text-sm font-normal text-muted hover:text-ink sm:block" title={parent}>
              {parent}
            </Link>
            <span className="block truncate text-sm font-normal text-muted sm:hidden">{parent}</span>
          </>
        )}
      </span>
      {row.kind === "category" && row.count !== null && <span className="text-sm font-normal text-muted tabular-nums">{t("releases", { count: row.count })}</span>}
      {row.watchedShare !== null && (
        <span className="hidden text-sm font-normal text-muted tabular-nums sm:inline">{t("watched", { percent: formatPercent(100 * row.watchedShare) })}</span>
      )}
      {row.kind !== "category" && row.missingShare !== null && (
        <Badge tone="warn">{t("gaps", { percent: shareText(row.missingShare) })}</Badge>
      )}
      {played !== null && <IconButton icon={Play} size="sm" className="text-accent touch:-my-2" label={t("play-name", { name })} onClick={() => onPlay(played)} />}
    </span>
  );
}

/** Returns the line below a title: the number of files if there are several, and the name of the release. */
function subline(row: FileRow): string {
  const count = row.count !== null && row.count > 1 ? t("file-count", { count: row.count }) : "";
  return [count, row.film === null ? "" : row.name].filter((part) => part !== "").join(" · ");
}

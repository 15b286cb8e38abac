import { FolderOpen, FolderX, SearchX, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { Button, ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { FilterBar } from "@/components/ui/filter-bar";
import type { DeleteChoice } from "@/components/ui/delete-dialog";
import { late } from "@/components/ui/late";
import { LoadFailure } from "@/components/ui/load-failure";
import { SearchField } from "@/components/ui/search-field";
import { SelectField } from "@/components/ui/select-field";
import { SelectionBar } from "@/components/ui/selection-bar";
import { useListUrl } from "@/lib/list-url";
import { filmName } from "@/lib/film";
import { usePageTitle } from "@/lib/page-title";
import { useSelection } from "@/lib/selection";
import { useWindowParam } from "@/lib/url-param";
import { t } from "./en";
import { type FileRow, fileSorts, useFileList } from "./api/files";
import { removedPath } from "./api/paths";
import { Breadcrumb } from "./components/breadcrumb";
import { FileTable } from "./components/file-table";
import { PlaylistMenu } from "./components/playlist-menu";

const FileSheet = late(async () => (await import("./components/file-sheet")).FileSheet, { isAhead: false });
const DeleteDialog = late(async () => (await import("@/components/ui/delete-dialog")).DeleteDialog, { isAhead: false });
const PreviewDialog = late(async () => (await import("./components/preview-dialog")).PreviewDialog, { isAhead: false });

/** The library as a tree: one folder at a time, or the results of a search in all of it. */
export function FilesPage({ path }: { path: string }) {
  usePageTitle(t("files"));
  const url = useListUrl({ filters: ["q"], sort: "name" });
  const q = url.filters.q ?? "";
  const sort = fileSorts.find((word) => word === url.sort) ?? "name";
  const list = useFileList(path, q, sort);
  const preview = useWindowParam("play");
  const details = useWindowParam("file");
  const isGone = list.problem?.status === 404;
  const selection = useSelection(list.rows.map(({ path: id }) => ({ id })), list.total, q === "" ? { path } : { q });
  const [deleted, setDeleted] = useState<{ choice: DeleteChoice; title: string } | null>(null);
  const deleteRow = (row: FileRow) => setDeleted({ choice: { paths: [row.path] }, title: t("delete-name", { name: filmName(row.film, row.name) }) });

  function empty() {
    if (q !== "") {
      return (
        <EmptyState icon={SearchX} title={t("nothing-found")} actions={<Button onClick={url.clear}>{t("clear-search")}</Button>}>
          {t("nothing-found-help")}
        </EmptyState>
      );
    }
    if (path !== "") {
      return (
        <EmptyState icon={FolderOpen} title={t("empty-folder")} actions={<ButtonLink to="/files">{t("to-library")}</ButtonLink>}>
          {!path.includes("/") && t("empty-folder-help")}
        </EmptyState>
      );
    }
    return (
      <EmptyState icon={FolderOpen} title={t("empty-library")} actions={<ButtonLink to="/queue" tone="accent">{t("to-queue")}</ButtonLink>}>
        {t("empty-library-help")}
      </EmptyState>
    );
  }

  return (
    <div className="grid gap-4">
      <FilterBar
        search={<SearchField label={t("search-library")} value={q} onChange={(value) => url.setFilter("q", value)} />}
        count={0}
        onClear={url.clear}
        filters={
          <SelectField
            label={t("sort")}
            isLabelHidden
            value={sort}
            options={fileSorts.map((word) => ({ value: word, label: t(`sort-${word}`) }))}
            onChange={url.setSort}
          />
        }
      />
      <div className="flex min-w-0 flex-wrap items-center justify-between gap-x-4">
        {q === "" ? <Breadcrumb path={path} /> : <h2 className="font-semibold">{list.isLoading ? "…" : t("found", { count: list.total })}</h2>}
        {q === "" && (
          <span className="flex min-w-0 flex-wrap items-center gap-x-3 text-sm text-muted tabular-nums">
            {!list.isLoading && !list.problem && t("count", { count: list.total })}
            {!list.isLoading && !list.problem && list.total > 0 && <PlaylistMenu path={path} />}
            {path === "" && (
              <ButtonLink size="sm" tone="quiet" icon={Undo2} to={removedPath}>
                {t("removed")}
              </ButtonLink>
            )}
          </span>
        )}
      </div>
      {list.problem && list.rows.length > 0 && !isGone && <LoadFailure isLine problem={list.problem} onRetry={list.refetch} />}
      <Card isFlush>
        {isGone ? (
          <EmptyState icon={FolderX} title={t("no-such-folder")} actions={<ButtonLink to="/files">{t("to-library")}</ButtonLink>}>
            {t("no-such-folder-help")}
          </EmptyState>
        ) : list.problem && list.rows.length === 0 ? (
          <LoadFailure problem={list.problem} onRetry={list.refetch} />
        ) : (
          <FileTable
            rows={list.rows}
            total={list.total}
            isSearch={q !== ""}
            sort={sort}
            onSort={url.setSort}
            isLoading={list.isLoading}
            onEnd={list.loadMore}
            onPlay={preview.open}
            onDetails={details.open}
            onDelete={deleteRow}
            selection={{ ids: selection.ids, onChange: selection.set }}
            detailsOf={details.to}
            empty={empty()}
          />
        )}
      </Card>
      <SelectionBar count={selection.count} total={list.total} isAll={selection.isAll} onAll={selection.selectAll} onClear={selection.clear}>
        <Button
          tone="danger"
          icon={Trash2}
          onClick={() => {
            const { target } = selection;
            setDeleted({ choice: "filter" in target ? { filter: { path: null, q: null, ...target.filter } } : { paths: target.ids }, title: t("delete-count", { count: selection.count }) });
          }}
        >
          {t("delete")}
        </Button>
      </SelectionBar>
      {deleted && <DeleteDialog {...deleted} action={t("delete")} onClose={() => setDeleted(null)} onDone={selection.clear} />}
      {details.value !== null && preview.value === null && <FileSheet id={details.value} onClose={details.close} onPlay={preview.open} />}
      {preview.value !== null && <PreviewDialog key={preview.value} id={preview.value} onClose={preview.close} onPlay={preview.open} />}
    </div>
  );
}

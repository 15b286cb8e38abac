import { FolderOpen, FolderX, SearchX } from "lucide-react";
import { Button, ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { FilterBar } from "@/components/ui/filter-bar";
import { late } from "@/components/ui/late";
import { LoadFailure } from "@/components/ui/load-failure";
import { SearchField } from "@/components/ui/search-field";
import { SelectField } from "@/components/ui/select-field";
import { useListUrl } from "@/lib/list-url";
import { usePageTitle } from "@/lib/page-title";
import { useWindowParam } from "@/lib/url-param";
import { t } from "./en";
import { fileSorts, useFileList } from "./api/files";
import { Breadcrumb } from "./components/breadcrumb";
import { FileTable } from "./components/file-table";
import { PlaylistMenu } from "./components/playlist-menu";

const FileSheet = late(async () => (await import("./components/file-sheet")).FileSheet, { isAhead: false });
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
        {q === "" && !list.isLoading && !list.problem && (
          <span className="flex items-center gap-3 text-sm text-muted tabular-nums">
            {t("count", { count: list.total })}
            {list.total > 0 && <PlaylistMenu path={path} />}
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
            detailsOf={details.to}
            empty={empty()}
          />
        )}
      </Card>
      {details.value !== null && preview.value === null && <FileSheet id={details.value} onClose={details.close} onPlay={preview.open} />}
      {preview.value !== null && <PreviewDialog key={preview.value} id={preview.value} onClose={preview.close} onPlay={preview.open} />}
    </div>
  );
}

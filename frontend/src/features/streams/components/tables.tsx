import type { ReactNode } from "react";
import { Badge, type Tone } from "@/components/ui/badge";
import { Card } from "@/components/ui/card";
import type { Schema } from "@/lib/api-client";
import { cx } from "@/lib/cx";
import { formatBytes, formatDuration, formatPercent, formatTime } from "@/lib/format";
import { t } from "../en";

interface SmallTableProps {
  label: string;
  header: readonly { name: string; isEnd?: boolean }[];
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
  /** Keeps its height when rows come and go. */
  isSteady?: boolean;
}

/** A scrolling table of a few hundred rows at most. */
export function SmallTable({ label, header, rows, isSteady = false }: SmallTableProps) {
  return (
    <div role="group" aria-label={label} tabIndex={0} className={cx("overflow-auto -outline-offset-2", isSteady ? "h-80" : "max-h-80")}>
      <table className="w-full text-sm tabular-nums">
        <thead className="sticky top-0 bg-surface text-muted">
          <tr>
            {header.map(({ name, isEnd }) => (
              <th key={name} scope="col" className={cx("px-2 py-1.5 font-medium first:ps-4 last:pe-4", isEnd ? "text-end" : "text-start")}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} className="border-t border-line">
              {row.cells.map((cell, index) => (
                <td key={header[index]?.name} className={cx("px-2 py-1.5 first:ps-4 last:pe-4", header[index]?.isEnd ? "text-end whitespace-nowrap" : "text-start")}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Nothing({ text }: { text: string }) {
  return <p className="flex h-24 items-center justify-center px-4 text-center text-muted">{text}</p>;
}

const flowTones: Record<Schema<"ArticleFlow">, Tone> = { asked: "neutral", receiving: "accent", late: "warn" };

/** The articles in flight, the first needed one first. */
export function ArticlesCard({ articles, position }: { articles: readonly Schema<"StreamArticle">[]; position: number }) {
  return (
    <Card title={t("articles-title")} isFlush>
      {articles.length === 0 ? (
        <Nothing text={t("articles-none")} />
      ) : (
        <SmallTable
          isSteady
          label={t("articles-title")}
          header={[
            { name: t("provider") },
            { name: t("article-at"), isEnd: true },
            { name: t("article-bytes"), isEnd: true },
            { name: t("article-time"), isEnd: true },
            { name: t("article-state") },
          ]}
          rows={articles.map((article) => ({
            key: `${article.offset} ${article.provider}`,
            cells: [
              article.provider,
              formatBytes(Math.max(0, article.offset - position)),
              formatBytes(article.bytes),
              formatDuration(article.ms),
              <Badge key="state" tone={flowTones[article.state]}>
                {t(`flow.${article.state}`)}
              </Badge>,
            ],
          }))}
        />
      )}
    </Card>
  );
}

/** The seeks of the player, each with the time to its first byte. */
export function SeeksCard({ seeks, fileBytes }: { seeks: readonly Schema<"StreamSeek">[]; fileBytes: number }) {
  return (
    <Card title={t("seeks")} isFlush>
      {seeks.length === 0 ? (
        <Nothing text={t("seeks-none")} />
      ) : (
        <SmallTable
          label={t("seeks")}
          header={[{ name: t("seek-when") }, { name: t("seek-to"), isEnd: true }, { name: t("seek-first-byte"), isEnd: true }]}
          rows={seeks.map((seek) => ({
            key: `${seek.at} ${seek.offset}`,
            cells: [
              formatTime(seek.at),
              `${formatPercent(fileBytes > 0 ? (100 * seek.offset) / fileBytes : 0, 1)} · ${formatBytes(seek.offset)}`,
              seek.firstByteMs === null ? t("seek-waiting") : formatDuration(seek.firstByteMs),
            ],
          }))}
        />
      )}
    </Card>
  );
}

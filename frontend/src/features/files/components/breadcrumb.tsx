import { ChevronRight } from "lucide-react";
import { Fragment } from "react";
import { Link } from "react-router";
import { Icon } from "@/components/ui/icon";
import { t } from "../en";
import { folderPath } from "../api/paths";

/** The path from the library to this folder, with a link for each part. */
export function Breadcrumb({ path }: { path: string }) {
  const names = path === "" ? [] : path.split("/");
  const part = "inline-flex min-h-6 max-w-full min-w-6 touch:min-w-11 items-center rounded-sm touch:min-h-11";
  return (
    <nav aria-label={t("path")} className="min-w-0">
      <ol className="flex min-w-0 flex-wrap items-center gap-x-1.5 text-base">
        <li className="inline-flex min-w-0">
          {names.length === 0 ? (
            <span aria-current="page" className={`${part} font-semibold`}>{t("library")}</span>
          ) : (
            <Link to="/files" className={`${part} text-muted hover:text-ink`}>{t("library")}</Link>
          )}
        </li>
        {names.map((name, at) => (
          <Fragment key={at}>
            <li aria-hidden className="text-line-strong rtl:rotate-180">
              <Icon of={ChevronRight} size={14} />
            </li>
            <li className="inline-flex max-w-full min-w-0">
              {at === names.length - 1 ? (
                <span aria-current="page" title={name} className={`${part} font-semibold`}>
                  <span className="truncate">{name}</span>
                </span>
              ) : (
                <Link to={folderPath(names.slice(0, at + 1).join("/"))} title={name} className={`${part} text-muted hover:text-ink`}>
                  <span className="truncate">{name}</span>
                </Link>
              )}
            </li>
          </Fragment>
        ))}
      </ol>
    </nav>
  );
}

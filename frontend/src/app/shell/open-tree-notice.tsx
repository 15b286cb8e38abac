import { ButtonLink } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { t } from "../en";

/** Says above every page who needs no password for the files. */
export function OpenTreeNotice({ networks }: { networks: readonly string[] }) {
  return (
    <div className="mb-5">
      <Notice
        tone="warn"
        actions={
          <ButtonLink size="sm" to="/settings?q=webdav.no-auth-networks">
            {t("who-may-read")}
          </ButtonLink>
        }
      >
        {t("open-tree", { networks: networks.join(", ") })}
      </Notice>
    </div>
  );
}

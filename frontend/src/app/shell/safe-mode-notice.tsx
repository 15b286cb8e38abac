import { ButtonLink } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { t } from "../en";

/** Says above every page that nothing can be changed. */
export function SafeModeNotice() {
  return (
    <div className="mb-5">
      <Notice
        tone="warn"
        actions={
          <ButtonLink size="sm" to="/logs">
            {t("open-logs")}
          </ButtonLink>
        }
      >
        {t("safe-mode")}
      </Notice>
    </div>
  );
}

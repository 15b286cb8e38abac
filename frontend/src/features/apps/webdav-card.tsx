import { ButtonLink } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { t } from "./en";
import { WebDavPassword } from "./webdav-password";

/** The WebDAV password on the settings page, with a link to the cards of the programs. */
export function WebDavCard() {
  return (
    <Card
      title={t("webdav")}
      actions={
        <ButtonLink to="/setup?step=apps" size="sm">
          {t("connect-apps")}
        </ButtonLink>
      }
    >
      <p className="mb-3 text-sm text-muted">{t("webdav-help")}</p>
      <WebDavPassword />
    </Card>
  );
}

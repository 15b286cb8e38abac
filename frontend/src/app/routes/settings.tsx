import { useParams } from "react-router";
import { ArrEditor } from "@/features/apps/arr-editor";
import { WebDavCard } from "@/features/apps/webdav-card";
import { ProvidersEditor } from "@/features/providers/providers-editor";
import { SettingsPage } from "@/features/settings/settings-page";
import { usePageTitle } from "@/lib/page-title";
import { t } from "../en";

const editors = {
  "usenet.providers": <ProvidersEditor />,
  "arr.instances": <ArrEditor />,
};

const cards = { "webdav.pass": <WebDavCard /> };

export function Component() {
  usePageTitle(t("settings"));
  return <SettingsPage group={useParams().group} editors={editors} cards={cards} />;
}

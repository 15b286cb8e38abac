import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Card } from "@/components/ui/card";
import { Code } from "@/components/ui/code";
import { CopyBlock } from "@/components/ui/copy-block";
import { KeyValues } from "@/components/ui/key-values";
import { SelectField } from "@/components/ui/select-field";
import { SwitchField } from "@/components/ui/switch-field";
import { Segments } from "@/components/ui/tabs";
import { cx } from "@/lib/cx";
import { Rich } from "@/lib/i18n/rich";
import { sessionQuery } from "@/lib/session";
import type { AccessCard } from "./api/apps";
import { t } from "./mount-en";
import { MountLamps } from "./mount-lamps";
import { type Host, type Nas, type Place, composeFile, composeStart, containerVolume, nasHosts, pathMapping, unitInstall, usualHost } from "./mount-plan";
import type { Access } from "./snippets";
import { WebDavPassword } from "./webdav-password";

const places: readonly Place[] = ["docker", "here", "nas", "elsewhere"];

const marks = { code: (inner: string) => <Code>{inner}</Code>, b: (inner: string) => <strong className="font-semibold text-ink">{inner}</strong> };

interface MountCardProps {
  card: AccessCard;
  access: Access;
  /** Shown if other machines cannot reach the chosen address. */
  note: ReactNode;
}

/** Asks where the programs run, shows the file that mounts Sluice there, and reports whether the mount works. */
export function MountCard({ card, access, note }: MountCardProps) {
  const [place, setPlace] = useState<Place | null>(null);
  return (
    <Card title={t("title")}>
      <div className="grid gap-5">
        <p className="text-muted">{t("about")}</p>
        <div role="group" aria-label={t("question")} className="grid gap-2">
          <p aria-hidden className="text-sm font-medium">
            {t("question")}
          </p>
          <div className="grid gap-2 sm:grid-cols-2">
            {places.map((option) => (
              <button
                key={option}
                type="button"
                aria-pressed={option === place}
                onClick={() => setPlace(option)}
                className={cx(
                  "min-h-11 rounded-lg border px-3 py-2 text-start font-medium",
                  option === place ? "border-accent bg-accent-soft text-accent" : "border-line bg-raised hover:bg-hover",
                )}
              >
                {t(`place.${option}`)}
              </button>
            ))}
          </div>
        </div>
        {place && <Recipe key={place} place={place} card={card} access={access} note={note} />}
        <Logins access={access} />
        <MountLamps folder={access.mountDir} />
      </div>
    </Card>
  );
}

function Recipe({ place, card, access, note }: MountCardProps & { place: Place }) {
  const [nas, setNas] = useState<Nas>("synology");
  const [there, setThere] = useState<"docker" | "native">("docker");
  const isFar = place === "nas" || place === "elsewhere";
  const isDocker = place === "docker" || place === "nas" || (place === "elsewhere" && there === "docker");
  const host = place === "nas" ? { ...nasHosts[nas], timeZone: ownZone() } : usualHost(access, ownZone());
  return (
    <div className="grid gap-4">
      {place === "nas" && (
        <SelectField label={t("which-nas")} value={nas} options={(Object.keys(nasHosts) as Nas[]).map((value) => ({ value, label: t(`nas.${value}`) }))} onChange={setNas} />
      )}
      {place === "elsewhere" && (
        <Segments
          label={t("how-there")}
          options={[{ name: "docker", label: t("there.docker") }, { name: "native", label: t("there.native") }]}
          current={there}
          onChange={setThere}
        />
      )}
      {isFar && note}
      {isDocker ? (
        <Compose access={access} host={host} shared={place === "nas" ? nasHosts[nas].shared : null} />
      ) : (
        <div className="grid gap-1">
          <CopyBlock label={t(isFar ? "unit-there" : "unit-here")} value={unitInstall(access)} />
          <p className="text-sm text-muted">
            <Rich text={t("unit-needs")} marks={marks} />
          </p>
        </div>
      )}
      {access.user !== "" && <WebDavPassword isMarked />}
      {card.strmFolder === null ? <p className="text-muted">{t("same-path", { folder: access.mountDir })}</p> : <Strm access={access} folder={card.strmFolder} isFar={isFar} />}
    </div>
  );
}

/** Returns the time zone of the browser, for the schedules of the programs. */
function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function Compose({ access, host, shared }: { access: Access; host: Host; shared: string | null }) {
  const [hasApps, setApps] = useState(true);
  return (
    <>
      <SwitchField label={t("with-apps")} help={t("with-apps-help")} isOn={hasApps} onChange={setApps} />
      <div className="grid gap-1">
        <CopyBlock label={t("compose-file")} value={composeFile(access, host, hasApps)} />
        <p className="text-sm text-muted">
          <Rich text={shared === null ? t("compose-help") : t("compose-nas-help", { root: host.root })} marks={marks} />
        </p>
      </div>
      {shared !== null && (
        <div className="grid gap-1">
          <CopyBlock label={t("share")} value={`mount --make-rshared ${shared}`} />
          <p className="text-sm text-muted">{t("share-help")}</p>
        </div>
      )}
      <CopyBlock label={t("start")} value={composeStart(hasApps)} />
      {!hasApps && (
        <div className="grid gap-1">
          <CopyBlock label={t("own-volume")} value={containerVolume(host, access)} />
          <p className="text-sm text-muted">{t("own-volume-help")}</p>
        </div>
      )}
    </>
  );
}

/** The settings of Sonarr for a folder of `.strm` files, which it imports instead of links. */
function Strm({ access, folder, isFar }: { access: Access; folder: string; isFar: boolean }) {
  if (!isFar) {
    return (
      <div className="grid gap-1">
        <p className="text-muted">{t("strm-here", { folder })}</p>
        <CopyBlock label={t("strm-volume")} value={`- ${folder}:${folder}`} />
      </div>
    );
  }
  const mapping = pathMapping(access, folder);
  return (
    <section aria-label={t("strm-title")} className="grid gap-2">
      <p className="text-muted">{t("strm-there", { folder })}</p>
      <KeyValues
        items={[
          { label: t("map-host"), value: mapping.host },
          { label: t("map-remote"), value: mapping.remotePath },
          { label: t("map-local"), value: t("map-local-value") },
        ]}
      />
    </section>
  );
}

function Logins({ access }: { access: Access }) {
  const session = useQuery(sessionQuery);
  return (
    <section aria-labelledby="two-logins" className="grid gap-1">
      <h3 id="two-logins" className="text-sm font-medium">
        {t("two-logins")}
      </h3>
      <ul className="grid gap-1 text-muted">
        <li>
          <Rich text={t("login-yours", { user: session.data?.user ?? "" })} marks={marks} />
        </li>
        <li>
          <Rich text={access.user === "" ? t("login-open") : t("login-players", { user: access.user })} marks={marks} />
        </li>
      </ul>
    </section>
  );
}

import { useQuery } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Code } from "@/components/ui/code";
import { CopyBlock } from "@/components/ui/copy-block";
import { Disclosure } from "@/components/ui/disclosure";
import { Icon } from "@/components/ui/icon";
import { KeyValues } from "@/components/ui/key-values";
import { Notice } from "@/components/ui/notice";
import { SelectField } from "@/components/ui/select-field";
import { SkeletonRows } from "@/components/ui/skeleton";
import { ApiProblem } from "@/lib/api-problem";
import { Rich } from "@/lib/i18n/rich";
import { type AccessCard, accessQuery, arrQuery, webDavQuery } from "./api/apps";
import { ArrConnect } from "./arr-connect";
import { t } from "./en";
import { MountCard } from "./mount-card";
import { OldRclone } from "./old-rclone";
import { programs } from "./programs";
import { type Access, curlCommand, passwordMark, playlistUrl, rcloneConfig, rcloneMount, treeUrl, volumeLine, withScheme } from "./snippets";
import { WebDavPassword } from "./webdav-password";

/** A card for each program, with the values of this server filled in. */
export function AppCards() {
  const card = useQuery(accessQuery);
  const webDav = useQuery(webDavQuery);
  const arr = useQuery(arrQuery);
  const [chosen, setChosen] = useState<string | null>(null);
  if (card.error) {
    return (
      <Notice tone="bad" isAlert actions={<Button size="sm" onClick={() => void card.refetch()}>{t("try-again")}</Button>}>
        {t("load-failed", { reason: ApiProblem.from(card.error).title })}
      </Notice>
    );
  }
  if (!card.data) return <SkeletonRows rows={4} />;
  const origin = chosen ?? card.data.address;
  const access: Access = {
    origin,
    urlBase: card.data.urlBase,
    user: card.data.webDavUser,
    password: webDav.data?.password ?? passwordMark,
    mountDir: card.data.mountDir,
  };
  const isHere = card.data.isLoopback && origin === card.data.address;
  const places: CardProps = { card: card.data, access, note: isHere ? <HereOnly address={card.data.address} /> : null };
  return (
    <div className="grid gap-3">
      <AddressChoice card={card.data} chosen={origin} onChange={setChosen} />
      <MountCard {...places} />
      {(["sonarr", "radarr"] as const).map((kind) => {
        const saved = arr.data?.items.find((entry) => entry.kind === kind);
        return (
          <AppCard key={kind} name={programs[kind].name} about={t(`card.${kind}`)} isDone={saved !== undefined}>
            {/* Not replaced once it has connected, so that its result stays visible. */}
            {arr.isPending ? <SkeletonRows rows={2} /> : <ArrConnect kind={kind} categories={places.card.categories} saved={saved} />}
            <ByHand {...places} kind={kind} />
          </AppCard>
        );
      })}
      <RcloneCard {...places} />
      <MediaServerCard {...places} name="Plex" about={t("card.plex")} />
      <MediaServerCard {...places} name="Jellyfin" about={t("card.jellyfin")} />
      <VlcCard {...places} />
      <InfuseCard {...places} />
    </div>
  );
}

interface CardProps {
  card: AccessCard;
  access: Access;
  /** A warning about the address. */
  note: ReactNode;
}

function AddressChoice({ card, chosen, onChange }: { card: AccessCard; chosen: string; onChange: (address: string) => void }) {
  const options = [
    { value: card.address, label: `${t("address-browser")} · ${card.address}` },
    ...card.lanAddresses.map((address) => ({ value: withScheme(address, card.address), label: `${t("address-lan")} · ${withScheme(address, card.address)}` })),
    { value: withScheme(card.composeAddress, card.address), label: `${t("address-compose")} · ${withScheme(card.composeAddress, card.address)}` },
  ];
  const seen = options.filter((option, index) => options.findIndex((other) => other.value === option.value) === index);
  return (
    <SelectField
      label={t("address-for")}
      value={chosen}
      options={seen}
      help={card.isLoopback && card.lanAddresses.length === 0 ? t("no-lan") : undefined}
      onChange={onChange}
    />
  );
}

function HereOnly({ address }: { address: string }) {
  return (
    <Notice tone="warn">
      <Rich text={t("loopback-only", { address })} marks={{ code: (inner) => <Code>{inner}</Code> }} />
    </Notice>
  );
}

/** A card that opens; its content is rendered when it does. */
function AppCard({ name, about, isDone = false, children }: { name: string; about: string; isDone?: boolean; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="group rounded-xl border border-line bg-surface shadow-card"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="flex min-h-14 list-none items-center gap-3 rounded-xl px-4 py-2.5 hover:bg-hover [&::-webkit-details-marker]:hidden">
        <span aria-hidden className="flex size-9 shrink-0 items-center justify-center rounded-lg bg-accent-soft font-semibold text-accent">
          {name[0]}
        </span>
        <span className="min-w-0 flex-1">
          <span className="flex flex-wrap items-center gap-2 font-semibold">
            {name}
            {isDone && <Badge tone="ok">{t("connected")}</Badge>}
          </span>
          <span className="block text-sm text-muted">{about}</span>
        </span>
        <Icon of={ChevronDown} className="text-muted transition-transform group-open:rotate-180" />
      </summary>
      {isOpen && <div className="grid gap-4 border-t border-line px-4 py-4">{children}</div>}
    </details>
  );
}

function ByHand({ card, access, note, kind }: CardProps & { kind: "sonarr" | "radarr" }) {
  const { name } = programs[kind];
  const url = new URL(access.origin);
  const isTls = url.protocol === "https:";
  const category = kind === "sonarr" ? "tv" : "movies";
  return (
    <Disclosure title={t("by-hand")}>
      <div className="grid gap-3 pt-3">
        <p className="text-sm text-muted">{t("by-hand-help", { name })}</p>
        {note}
        <div className="grid gap-3 sm:grid-cols-2">
          <CopyBlock label={t("field-host")} value={url.hostname} />
          <CopyBlock label={t("field-port")} value={url.port || (isTls ? "443" : "80")} />
          {card.urlBase !== "" && <CopyBlock label={t("field-url-base")} value={card.urlBase} />}
          {card.sabKey && <CopyBlock label={t("field-key")} value={card.sabKey} isSecret />}
          <CopyBlock label={t("field-category")} value={card.categories.includes(category) ? category : (card.categories[0] ?? category)} />
        </div>
        <KeyValues items={[{ label: t("field-ssl"), value: isTls ? t("yes") : t("no") }]} />
      </div>
    </Disclosure>
  );
}

function RcloneCard({ access, note }: CardProps) {
  return (
    <AppCard name="rclone" about={t("card.rclone")}>
      <OldRclone />
      {note}
      <CopyBlock label={t("rclone-config")} value={rcloneConfig(access)} />
      <div className="grid gap-1">
        <CopyBlock label={t("rclone-mount")} value={rcloneMount(access)} />
        <p className="text-sm text-muted">{t("rclone-links")}</p>
      </div>
      <CopyBlock label={t("compose-volume")} value={volumeLine(access)} />
      <Login access={access} />
    </AppCard>
  );
}

function MediaServerCard({ card, access, name, about }: CardProps & { name: string; about: string }) {
  return (
    <AppCard name={name} about={about}>
      <p>{t("mount-first", { folder: access.mountDir })}</p>
      <CopyBlock label={t("server-volume", { name })} value={volumeLine(access)} />
      <p className="text-muted">{t("library-links", { name })}</p>
      {card.categories
        .filter((category) => category === "movies" || category === "tv")
        .map((category) => (
          <CopyBlock key={category} label={t("library-folder", { category })} value={`${access.mountDir}/content/${category}`} />
        ))}
    </AppCard>
  );
}

function VlcCard({ access, note }: CardProps) {
  return (
    <AppCard name="VLC" about={t("card.vlc")}>
      {note}
      <CopyBlock label={t("vlc-playlist")} value={playlistUrl(access)} />
      <p className="-mt-1.5 text-sm text-muted">{t("vlc-playlist-help")}</p>
      <p>
        <Rich text={t("vlc-how")} marks={{ link: (inner) => <Link to="/files" className="text-accent underline">{inner}</Link> }} />
      </p>
      <CopyBlock label={t("curl")} value={curlCommand(access)} />
      <Login access={access} />
    </AppCard>
  );
}

function InfuseCard({ access, note }: CardProps) {
  const url = new URL(treeUrl(access));
  return (
    <AppCard name="Infuse" about={t("card.infuse")}>
      {note}
      <p className="text-muted">{t("infuse-kind")}</p>
      <div className="grid gap-3 sm:grid-cols-2">
        <CopyBlock label={t("infuse-address")} value={access.origin} />
        <CopyBlock label={t("infuse-path")} value={`${url.pathname}content`} />
      </div>
      <Login access={access} />
    </AppCard>
  );
}

function Login({ access }: { access: Access }) {
  if (access.user === "") return <p className="text-muted">{t("open")}</p>;
  return (
    <div className="grid gap-3">
      <CopyBlock label={t("user")} value={access.user} />
      <WebDavPassword isMarked />
    </div>
  );
}

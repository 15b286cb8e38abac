/** Common servers. Backbones are left out, because they change with their owners and a wrong one costs articles. */
export const knownProviders: readonly { name: string; host: string }[] = [
  { name: "Newshosting", host: "news.newshosting.com" },
  { name: "Easynews", host: "news.easynews.com" },
  { name: "UsenetServer", host: "news.usenetserver.com" },
  { name: "Eweka", host: "news.eweka.nl" },
  { name: "Tweaknews", host: "news.tweaknews.eu" },
  { name: "UsenetExpress", host: "news.usenetexpress.com" },
  { name: "NewsgroupDirect", host: "news.newsgroupdirect.com" },
  { name: "NewsDemon", host: "news.newsdemon.com" },
  { name: "Giganews", host: "news.giganews.com" },
  { name: "Supernews", host: "news.supernews.com" },
  { name: "Usenet.Farm", host: "news.usenet.farm" },
  { name: "ViperNews", host: "news.vipernews.com" },
  { name: "Frugal Usenet", host: "news.frugalusenet.com" },
];

/** Returns the known provider of a host; undefined if unknown. */
export function knownProvider(host: string) {
  return knownProviders.find((known) => known.host === host.trim().toLowerCase());
}

/** Servers that are often used, with the store of articles that they share with others where that is publicly known. */
export const knownProviders: readonly { name: string; host: string; backbone: string }[] = [
  { name: "Newshosting", host: "news.newshosting.com", backbone: "Omicron" },
  { name: "Easynews", host: "news.easynews.com", backbone: "Omicron" },
  { name: "UsenetServer", host: "news.usenetserver.com", backbone: "Omicron" },
  { name: "Eweka", host: "news.eweka.nl", backbone: "" },
  { name: "Tweaknews", host: "news.tweaknews.eu", backbone: "" },
  { name: "UsenetExpress", host: "news.usenetexpress.com", backbone: "UsenetExpress" },
  { name: "NewsgroupDirect", host: "news.newsgroupdirect.com", backbone: "UsenetExpress" },
  { name: "NewsDemon", host: "news.newsdemon.com", backbone: "UsenetExpress" },
  { name: "Giganews", host: "news.giganews.com", backbone: "Giganews" },
  { name: "Supernews", host: "news.supernews.com", backbone: "Giganews" },
  { name: "Usenet.Farm", host: "news.usenet.farm", backbone: "" },
  { name: "ViperNews", host: "news.vipernews.com", backbone: "" },
  { name: "Frugal Usenet", host: "news.frugalusenet.com", backbone: "" },
];

/** The known provider of a host; undefined where there is none. */
export function knownProvider(host: string) {
  return knownProviders.find((known) => known.host === host.trim().toLowerCase());
}

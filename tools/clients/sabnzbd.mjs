// Uses the server as SABnzbd with the npm package sabnzbd-api: node sabnzbd.mjs HOST USER PASSWORD KEY NZB
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import sabnzbd from "sabnzbd-api";

const [host, user, password, key, nzb] = process.argv.slice(2);
const FormData = createRequire(createRequire(import.meta.url).resolve("sabnzbd-api"))("form-data");
const client = new sabnzbd.Client(host, key);

async function until(look) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await wait(50);
  }
}

const inHistory = (id) => until(async () => (await client.history(0, 10, undefined, undefined, [id])).slots[0]);

async function upload(name, content) {
  const form = new FormData();
  form.append("nzbfile", content, { filename: `${name}.nzb` });
  const { status, nzo_ids: ids } = await client.addFile(form, name, undefined, "tv");
  assert.equal(status, true);
  assert.equal(ids.length, 1);
  return ids[0];
}

assert.equal(await client.version(), "5.0.4");
assert.equal(await client.auth(), "apikey");
assert.ok((await client.getCats()).includes("tv"));
assert.deepEqual(await client.getScripts(), ["None"]);
assert.equal(await client.translateText("ping"), "ping");
assert.ok((await client.getConfig()).config.misc.complete_dir.endsWith("/completed-symlinks"));
assert.equal((await client.setConfig({ section: "misc", keyword: "pre_check", value: 1 })).error, "Configuration locked");
await assert.rejects(new sabnzbd.Client(host, "wrong").getCats(), /403/);

// A release is added, imported, and deleted from the history, and its film stays.
// The added comment makes it a new NZB, because an equal one would share the release of the previous clients.
const film = await upload("sabnzbd-api", (await readFile(nzb, "utf8")).replace("<file ", "<!-- sabnzbd-api --><file "));
const done = await inHistory(film);
assert.equal(done.status, "Completed");
assert.equal(done.name, "sabnzbd-api");
assert.ok(done.storage.endsWith("/completed-symlinks/tv/sabnzbd-api"));
assert.equal((await client.historyDelete(film)).status, true);
assert.equal((await client.history(0, 10, undefined, undefined, [film])).noofslots, 0);
const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const kept = await fetch(`${host}/content/tv/sabnzbd-api/film.mkv`, { method: "HEAD", headers: { authorization } });
assert.equal(kept.status, 200);

// An NZB that cannot be imported fails, and its retry fails under the same id.
const empty = await upload("empty", "<nzb/>");
assert.equal((await inHistory(empty)).status, "Failed");
assert.equal((await client.historyRetry(empty)).status, true);
assert.equal((await inHistory(empty)).nzo_id, empty);
assert.equal((await client.historyDeleteAllFailed()).status, true);
assert.equal((await client.history(0, 10, undefined, undefined, [empty])).noofslots, 0);

const stats = await client.serverStats();
assert.ok(stats.total > 0 && stats.total === stats.day);
assert.equal(stats.servers.size, 1);
for (const status of [await client.status(true), await client.fullStatus()]) {
  assert.equal(status.servers.length, 1);
  assert.equal(status.completedir, (await client.getConfig()).config.misc.complete_dir);
}

assert.equal((await client.statusUnblockServer("Provider 1")).status, true);
assert.equal((await client.warningsClear()).status, true);
await until(async () => (await client.queue()).noofslots_total === 0);

// Reads the release with the npm package webdav: node webdav.mjs HOST USER PASSWORD FOLDER FILES
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { AuthType, createClient } from "webdav";

const [host, username, password, folder, files] = process.argv.slice(2);
const client = createClient(host, { authType: AuthType.Password, username, password });

const root = await client.getDirectoryContents("/");
assert.deepEqual(
  root.map((item) => `${item.type} ${item.filename}`).sort(),
  ["directory /.ids", "directory /completed-symlinks", "directory /content", "directory /nzbs", "file /.health", "file /README"],
);

const listed = await client.getDirectoryContents(`/${folder}`);
assert.deepEqual(listed.map((item) => item.basename).sort(), ["film.mkv", "film.mp4"]);

for (const item of listed) {
  const truth = await readFile(`${files}/${item.basename}`);
  assert.equal(item.size, truth.length);
  assert.equal((await client.stat(item.filename)).etag, item.etag);
  assert.ok(truth.equals(await client.getFileContents(item.filename)), `${item.basename} differs`);

  for (let at = 0; at < 20; at++) {
    const start = Math.floor(((at + 0.37) / 20) * truth.length);
    const end = Math.min(start + 100_000, truth.length - 1);
    const part = await buffer(client.createReadStream(item.filename, { range: { start, end } }));
    assert.ok(truth.subarray(start, end + 1).equals(part), `${item.basename} differs between ${start} and ${end}`);
  }
}

assert.equal(await client.exists(`/${folder}/absent.mkv`), false);
await assert.rejects(client.putFileContents(`/${folder}/new.mkv`, "x"), { status: 403 });
await assert.rejects(client.createDirectory("/content/new"), { status: 403 });
await assert.rejects(client.deleteFile(`/${folder}/film.mkv`), { status: 403 });
await assert.rejects(client.moveFile(`/${folder}/film.mkv`, "/content/movies/other.mkv"), { status: 403 });

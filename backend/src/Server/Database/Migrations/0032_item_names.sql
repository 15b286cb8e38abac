-- A queue item keeps the name it was added with, so several items may have the same one. Their files below /nzbs have names of their own.
DROP TRIGGER queue_file_leaves;
ALTER TABLE queue_item RENAME TO queue_item_before;

CREATE TABLE queue_item (
  id TEXT PRIMARY KEY,
  file INTEGER REFERENCES queue_file (id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  nzb_name TEXT NOT NULL,
  category TEXT NOT NULL,
  folder TEXT NOT NULL,           -- of its category
  priority INTEGER NOT NULL,
  paused INTEGER NOT NULL,
  password TEXT NOT NULL,
  post_processing INTEGER NOT NULL,
  script TEXT NOT NULL,
  nzb_hash TEXT,
  nzb_length INTEGER NOT NULL,    -- of the plain NZB
  encoded_bytes INTEGER NOT NULL,
  posted_at INTEGER,              -- of the newest file
  added_at INTEGER NOT NULL,
  url TEXT,
  fetch_tries INTEGER NOT NULL DEFAULT 0,
  fetch_at INTEGER NOT NULL DEFAULT 0,
  named INTEGER NOT NULL DEFAULT 0,
  retried INTEGER NOT NULL DEFAULT 0,
  folded TEXT NOT NULL DEFAULT '',
  files INTEGER,
  segments INTEGER
) STRICT;

INSERT INTO queue_item (rowid, id, file, position, name, nzb_name, category, folder, priority, paused, password, post_processing, script, nzb_hash,
  nzb_length, encoded_bytes, posted_at, added_at, url, fetch_tries, fetch_at, named, retried, folded, files, segments)
SELECT rowid, id, file, position, name, nzb_name, category, folder, priority, paused, password, post_processing, script, nzb_hash,
  nzb_length, encoded_bytes, posted_at, added_at, url, fetch_tries, fetch_at, named, retried, folded, files, segments
FROM queue_item_before ORDER BY rowid;

DROP TABLE queue_item_before;

CREATE INDEX queue_item_order ON queue_item (priority DESC, position);
CREATE INDEX queue_item_nzb ON queue_item (nzb_hash);
CREATE INDEX queue_item_file ON queue_item (file);
CREATE INDEX queue_item_fetch ON queue_item (fetch_at) WHERE url IS NOT NULL;
CREATE INDEX queue_item_name ON queue_item (folder, name);
CREATE INDEX queue_item_listed ON queue_item (folded, category, encoded_bytes, added_at, priority, position);
CREATE INDEX queue_item_plain ON queue_item (id) WHERE password <> '' AND substr(password, 1, 7) <> 'enc:v1:';

CREATE TRIGGER queue_file_leaves AFTER DELETE ON queue_item
WHEN NOT EXISTS (SELECT 1 FROM queue_item WHERE file = OLD.file)
BEGIN
  DELETE FROM queue_file WHERE id = OLD.file;
END;

-- A finished item has two names: the one it was added with, and the folder that clients import. The folder may have a number.
ALTER TABLE history_item ADD COLUMN release_folder TEXT NOT NULL DEFAULT ''; -- below the folder of its category; empty if it failed
ALTER TABLE history_item ADD COLUMN strm_root TEXT; -- where its .strm files are; empty: links on the mount; null: an item of before
ALTER TABLE removed_history_item ADD COLUMN release_folder TEXT NOT NULL DEFAULT '';
ALTER TABLE removed_history_item ADD COLUMN strm_root TEXT;

-- The release may be gone, and then its folder had the name of the item.
UPDATE history_item SET release_folder = coalesce((SELECT name FROM release WHERE id = release_id), name) WHERE reason IS NULL;
UPDATE history_item SET folder = (SELECT category FROM release WHERE id = release_id) WHERE release_id IS NOT NULL;
UPDATE removed_history_item SET release_folder = coalesce((SELECT name FROM release WHERE id = release_id), name) WHERE reason IS NULL;
UPDATE removed_history_item SET folder = (SELECT category FROM release WHERE id = release_id) WHERE release_id IS NOT NULL;

-- Numbers that earlier versions appended to the names of items. A number of four digits may be a year, and is kept.
UPDATE queue_item SET name = substr(nzb_name, 1, length(nzb_name) - 4)
WHERE nzb_name GLOB '?*.nzb' AND substr(name, 1, length(nzb_name) - 3) = substr(nzb_name, 1, length(nzb_name) - 4) || ' '
  AND (substr(name, length(nzb_name) - 2) GLOB '([2-9])' OR substr(name, length(nzb_name) - 2) GLOB '([1-9][0-9])');
UPDATE history_item SET name = substr(nzb_name, 1, length(nzb_name) - 4)
WHERE nzb_name GLOB '?*.nzb' AND substr(name, 1, length(nzb_name) - 3) = substr(nzb_name, 1, length(nzb_name) - 4) || ' '
  AND (substr(name, length(nzb_name) - 2) GLOB '([2-9])' OR substr(name, length(nzb_name) - 2) GLOB '([1-9][0-9])');
UPDATE queue_item SET folded = fold_text(name);
UPDATE history_item SET folded = fold_text(name);

-- The folders of /completed-symlinks: found by name, and the newest of a category.
CREATE INDEX history_item_links ON history_item (folder, release_folder) WHERE archived = 0 AND reason IS NULL AND release_id IS NOT NULL;
CREATE INDEX history_item_newest ON history_item (folder, completed_at) WHERE archived = 0 AND reason IS NULL AND release_id IS NOT NULL;

-- One row per file below /nzbs, under the name by which it was PUT: (folder, name) is its path, and each of the items that
-- came in it refers to it. The trigger takes it away with the last of them, however that leaves.
CREATE TABLE queue_file (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  folder TEXT NOT NULL,
  name TEXT NOT NULL,             -- NFC, at most 255 bytes
  hash TEXT NOT NULL,             -- SHA-256 of its bytes as they came
  length INTEGER NOT NULL,        -- how many there are
  packed INTEGER NOT NULL,        -- 1: its bytes are blobs/<hash>.raw; 0: they are those of its one NZB
  added_at INTEGER NOT NULL,
  properties TEXT NOT NULL,       -- what WebDAV clients have stored about it; empty for nothing
  UNIQUE (folder, name)
) STRICT;

CREATE INDEX queue_file_hash ON queue_file (hash);

-- What is queued was kept under the name of its release.
INSERT INTO queue_file (folder, name, hash, length, packed, added_at, properties)
SELECT folder, name || '.nzb', nzb_hash, nzb_length, 0, added_at, properties FROM queue_item;

ALTER TABLE queue_item RENAME TO queue_item_before;

CREATE TABLE queue_item (
  id TEXT PRIMARY KEY,
  file INTEGER NOT NULL REFERENCES queue_file (id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,             -- of the release to be, free in its folder
  nzb_name TEXT NOT NULL,
  category TEXT NOT NULL,
  folder TEXT NOT NULL,
  priority INTEGER NOT NULL,
  paused INTEGER NOT NULL,
  password TEXT NOT NULL,
  post_processing INTEGER NOT NULL,
  script TEXT NOT NULL,
  nzb_hash TEXT NOT NULL,
  nzb_length INTEGER NOT NULL,    -- of the plain NZB
  encoded_bytes INTEGER NOT NULL, -- of the post, 0 until the NZB has been read
  posted_at INTEGER,              -- mean date of the posted files, null until the NZB has been read
  added_at INTEGER NOT NULL,
  UNIQUE (folder, name)
) STRICT;

INSERT INTO queue_item
SELECT i.id, f.id, i.position, i.name, i.nzb_name, i.category, i.folder, i.priority, i.paused, i.password, i.post_processing,
  i.script, i.nzb_hash, i.nzb_length, i.encoded_bytes, i.posted_at, i.added_at
FROM queue_item_before i JOIN queue_file f ON f.folder = i.folder AND f.name = i.name || '.nzb'
ORDER BY i.rowid;

DROP TABLE queue_item_before;

CREATE INDEX queue_item_order ON queue_item (priority DESC, position);
CREATE INDEX queue_item_nzb ON queue_item (nzb_hash);
CREATE INDEX queue_item_file ON queue_item (file);

CREATE TRIGGER queue_file_leaves AFTER DELETE ON queue_item
WHEN NOT EXISTS (SELECT 1 FROM queue_item WHERE file = OLD.file)
BEGIN
  DELETE FROM queue_file WHERE id = OLD.file;
END;

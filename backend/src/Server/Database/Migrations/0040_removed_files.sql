-- Rejected releases whose removal can still be undone. They stay readable, so their rows stay where they are.
ALTER TABLE removed_release RENAME TO leaving_release;
DROP INDEX removed_release_removal;
CREATE INDEX leaving_release_removal ON leaving_release (removal);

-- Files that were removed from the library and can be brought back (HLT-60). AUTOINCREMENT: a number is never given to another removal.
CREATE TABLE library_removal (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  removal INTEGER REFERENCES removal (number) ON DELETE SET NULL, -- the history items that went in the same transaction
  removed_at INTEGER NOT NULL,
  kept_ms INTEGER NOT NULL DEFAULT 0 -- run time of the server since then (HLT-17)
) STRICT;

CREATE INDEX library_removal_removal ON library_removal (removal);

-- What one removal took of one release, as the list of removed files shows it.
CREATE TABLE removed_item (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  removal INTEGER NOT NULL REFERENCES library_removal (number),
  release_id INTEGER NOT NULL,
  category TEXT NOT NULL,
  name TEXT NOT NULL,             -- of the release
  path_key TEXT,                  -- of the only file; null if the whole release or several files went
  folded TEXT NOT NULL,
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0, -- 1: its time has passed, and its rows are being deleted
  UNIQUE (removal, release_id)
) STRICT;

CREATE INDEX removed_item_release ON removed_item (release_id);
CREATE INDEX removed_item_listed ON removed_item (closed, number, folded);

-- The rows themselves, with every column that they had. A release is here as soon as no file of it is left in the library.
CREATE TABLE removed_release (
  id INTEGER PRIMARY KEY,
  category TEXT NOT NULL,
  name TEXT NOT NULL,
  nzb_hash TEXT NOT NULL,
  published_at INTEGER NOT NULL,
  folded TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  claim INTEGER NOT NULL,
  titled INTEGER NOT NULL,
  title TEXT,
  year INTEGER,
  season TEXT,
  episodes TEXT,
  quality TEXT,
  sampled INTEGER NOT NULL,
  missing INTEGER NOT NULL
) STRICT;

CREATE INDEX removed_release_nzb ON removed_release (nzb_hash);

CREATE TABLE removed_posted_file (
  release_id INTEGER NOT NULL REFERENCES removed_release (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  places BLOB NOT NULL,
  map BLOB NOT NULL,
  habit INTEGER NOT NULL,
  predicted BLOB,
  estimated INTEGER NOT NULL,
  PRIMARY KEY (release_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE removed_release_proof (
  release_id INTEGER PRIMARY KEY REFERENCES removed_release (id) ON DELETE CASCADE,
  wanted_at INTEGER NOT NULL
) STRICT;

CREATE TABLE removed_release_opening (
  release_id INTEGER PRIMARY KEY REFERENCES removed_release (id) ON DELETE CASCADE,
  password TEXT NOT NULL,
  opened INTEGER NOT NULL,
  refusal TEXT,
  tried_at INTEGER
) STRICT;

CREATE TABLE removed_library_file (
  item INTEGER NOT NULL REFERENCES removed_item (number),
  id TEXT PRIMARY KEY,
  release_id INTEGER NOT NULL,
  path_key TEXT NOT NULL,
  original_name TEXT,
  length INTEGER NOT NULL,
  etag TEXT NOT NULL,
  content BLOB NOT NULL,
  folded TEXT NOT NULL,
  category TEXT NOT NULL,
  published_at INTEGER NOT NULL
) STRICT;

CREATE INDEX removed_library_file_item ON removed_library_file (item);

CREATE TABLE removed_file_media (
  file_id TEXT PRIMARY KEY REFERENCES removed_library_file (id) ON DELETE CASCADE,
  duration INTEGER,
  width INTEGER,
  height INTEGER,
  video TEXT,
  audio TEXT
) STRICT, WITHOUT ROWID;

-- The release of an item while it is removed, so that it is the item's release again when it comes back.
ALTER TABLE history_item ADD COLUMN removed_release_id INTEGER;
ALTER TABLE removed_history_item ADD COLUMN removed_release_id INTEGER;
CREATE INDEX history_item_removed ON history_item (removed_release_id) WHERE removed_release_id IS NOT NULL;
CREATE INDEX removed_history_item_removed ON removed_history_item (removed_release_id) WHERE removed_release_id IS NOT NULL;

-- Saved settings (CFG-1). Secret values are encrypted, or hashed where they are only ever compared (CFG-50, CFG-51).
CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  secret INTEGER NOT NULL
) STRICT;

-- One row per release below /content. The name and the category are folder names in NFC.
CREATE TABLE release (
  id INTEGER PRIMARY KEY,
  category TEXT NOT NULL,
  name TEXT NOT NULL,
  nzb_hash TEXT NOT NULL,
  published_at INTEGER NOT NULL, -- Unix milliseconds, as all times
  UNIQUE (category, name)
) STRICT;

CREATE INDEX release_nzb ON release (nzb_hash);
CREATE INDEX release_newest ON release (category, published_at);

-- One row per posted file that a library file is made of. Its message-ids stand in blobs/<nzb_hash>.ids.
CREATE TABLE posted_file (
  release_id INTEGER NOT NULL REFERENCES release (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  places BLOB NOT NULL,           -- packed SegmentPlaces: where its message-ids stand in the release's list
  map BLOB NOT NULL,              -- packed SegmentMap
  PRIMARY KEY (release_id, ordinal)
) STRICT, WITHOUT ROWID;

-- One row per playable file. path_key is its path inside the release: NFC, U+0001 between the names, so that the index
-- holds the files of a folder together and in order.
CREATE TABLE library_file (
  id TEXT NOT NULL UNIQUE,
  release_id INTEGER NOT NULL REFERENCES release (id) ON DELETE CASCADE,
  path_key TEXT NOT NULL,
  original_name TEXT,
  length INTEGER NOT NULL,
  etag TEXT NOT NULL,
  content BLOB NOT NULL,          -- packed ContentMap
  UNIQUE (release_id, path_key)
) STRICT;

-- One row per finished or failed item. AUTOINCREMENT: sqlite_sequence counts every change for clients that poll.
CREATE TABLE history_item (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  nzb_name TEXT NOT NULL,
  category TEXT NOT NULL,
  folder TEXT NOT NULL,
  priority INTEGER NOT NULL,
  password TEXT NOT NULL,
  post_processing INTEGER NOT NULL,
  script TEXT NOT NULL,
  nzb_hash TEXT,                  -- null: nothing could be stored
  encoded_bytes INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  release_id INTEGER REFERENCES release (id) ON DELETE SET NULL,
  reason TEXT,                    -- null: completed
  fail_message TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  completed_at INTEGER NOT NULL,
  steps TEXT NOT NULL             -- JSON
) STRICT;

CREATE INDEX history_item_nzb ON history_item (nzb_hash);
CREATE INDEX history_item_release ON history_item (release_id);

-- One row per accepted item that is not finished. (folder, name) is its file below /nzbs.
CREATE TABLE queue_item (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
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

CREATE INDEX queue_item_order ON queue_item (priority DESC, position);
CREATE INDEX queue_item_nzb ON queue_item (nzb_hash);

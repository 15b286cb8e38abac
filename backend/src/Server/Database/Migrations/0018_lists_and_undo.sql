-- What lists are searched and sorted by: names folded as people type them (SearchText). A search reads an index and no wide row.
ALTER TABLE queue_item ADD COLUMN folded TEXT NOT NULL DEFAULT '';
ALTER TABLE history_item ADD COLUMN folded TEXT NOT NULL DEFAULT '';
UPDATE queue_item SET folded = fold_text(name);
UPDATE history_item SET folded = fold_text(name);

CREATE INDEX queue_item_listed ON queue_item (folded, category, encoded_bytes, added_at, priority, position);
CREATE INDEX history_item_listed ON history_item (folded, number, category, reason, bytes);

-- What was removed from queue and history and may still be taken back. AUTOINCREMENT: a number is never given to another removal.
CREATE TABLE removal (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  until INTEGER NOT NULL
) STRICT;

-- The rows themselves, with every column that they had. They stand in no list, and what they refer to stays.
CREATE TABLE removed_queue_item (
  removal INTEGER NOT NULL REFERENCES removal (number) ON DELETE CASCADE,
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
  nzb_length INTEGER NOT NULL,
  encoded_bytes INTEGER NOT NULL,
  posted_at INTEGER,
  added_at INTEGER NOT NULL,
  url TEXT,
  fetch_tries INTEGER NOT NULL,
  fetch_at INTEGER NOT NULL,
  file INTEGER,
  nzb_hash TEXT,
  named INTEGER NOT NULL,
  retried INTEGER NOT NULL,
  folded TEXT NOT NULL
) STRICT;

CREATE INDEX removed_queue_item_removal ON removed_queue_item (removal);
CREATE INDEX removed_queue_item_nzb ON removed_queue_item (nzb_hash);

-- The files that removed items came in; one may be that of several removals.
CREATE TABLE removed_queue_file (
  removal INTEGER NOT NULL REFERENCES removal (number) ON DELETE CASCADE,
  id INTEGER NOT NULL,
  folder TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  length INTEGER NOT NULL,
  packed INTEGER NOT NULL,
  added_at INTEGER NOT NULL,
  properties TEXT NOT NULL,
  PRIMARY KEY (removal, id)
) STRICT;

CREATE INDEX removed_queue_file_hash ON removed_queue_file (hash);

CREATE TABLE removed_history_item (
  removal INTEGER NOT NULL REFERENCES removal (number) ON DELETE CASCADE,
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  nzb_name TEXT NOT NULL,
  category TEXT NOT NULL,
  folder TEXT NOT NULL,
  priority INTEGER NOT NULL,
  password TEXT NOT NULL,
  post_processing INTEGER NOT NULL,
  script TEXT NOT NULL,
  nzb_hash TEXT,
  encoded_bytes INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  release_id INTEGER REFERENCES release (id) ON DELETE SET NULL,
  reason TEXT,
  fail_message TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  completed_at INTEGER NOT NULL,
  steps TEXT NOT NULL,
  archived INTEGER NOT NULL,
  nzb_length INTEGER NOT NULL,
  url TEXT,
  folded TEXT NOT NULL
) STRICT;

CREATE INDEX removed_history_item_removal ON removed_history_item (removal);
CREATE INDEX removed_history_item_release ON removed_history_item (release_id);
CREATE INDEX removed_history_item_nzb ON removed_history_item (nzb_hash);

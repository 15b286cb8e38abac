-- What a file is, stored when its header is first read, so that lists show it without a read.
CREATE TABLE file_media (
  file_id TEXT PRIMARY KEY REFERENCES library_file (id) ON DELETE CASCADE,
  duration INTEGER,               -- milliseconds; null: the header does not tell
  width INTEGER,                  -- of the first video track, in pixels
  height INTEGER,
  video TEXT,                     -- codec of the first video track, for people
  audio TEXT                      -- codec of the first audio track, for people
) STRICT, WITHOUT ROWID;

-- The front page: what a user has seen of a kind of problem. Newer ones of the same kind are shown again.
CREATE TABLE seen_need (
  need TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX history_item_failed ON history_item (reason, completed_at) WHERE reason IS NOT NULL AND archived = 0;
CREATE INDEX release_published ON release (published_at);

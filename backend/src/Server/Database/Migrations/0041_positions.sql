-- Where a viewer stopped watching a file.
CREATE TABLE file_position (
  file_id TEXT PRIMARY KEY REFERENCES library_file (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,            -- milliseconds from the start
  duration INTEGER,               -- milliseconds; null: the player did not know
  saved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX file_position_saved ON file_position (saved_at);

-- The releases of a series, for its next episode.
CREATE INDEX release_series ON release (category, lower(title));

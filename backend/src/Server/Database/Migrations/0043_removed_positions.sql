-- Where viewers stopped in removed files, so that an undo restores it.
CREATE TABLE removed_file_position (
  file_id TEXT PRIMARY KEY REFERENCES removed_library_file (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  duration INTEGER,
  saved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The sets of saved settings, the newest with the highest number (CFG-12).
CREATE TABLE setting_set (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  saved_at INTEGER NOT NULL,
  changed TEXT NOT NULL,   -- JSON: keys that the save changed
  content TEXT NOT NULL,   -- JSON: all saved values by key, as they stand in the table of settings
  proven INTEGER NOT NULL, -- a start with it has succeeded
  failed INTEGER NOT NULL  -- a start with it has failed
) STRICT;

-- The import of a library of the nzbdav family (CFG-40), once it has begun. One row.
CREATE TABLE family_import (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  started_at INTEGER NOT NULL,
  finished_at INTEGER,         -- null: it goes on with the next start
  report TEXT NOT NULL         -- JSON: what was taken, and what was not for which reason
) STRICT;

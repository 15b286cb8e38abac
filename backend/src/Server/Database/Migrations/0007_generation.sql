-- Which stored NZBs this database belongs to, and with which start it was last written; the file beside the blobs says the same
-- after each start. One row.
CREATE TABLE generation (
  id TEXT NOT NULL,
  epoch INTEGER NOT NULL
) STRICT;

-- NZBs that rows refer to and that were not there at the last start.
CREATE TABLE lost_nzb (
  hash TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL          -- the first start that missed it
) STRICT, WITHOUT ROWID;

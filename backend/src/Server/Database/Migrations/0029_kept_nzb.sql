-- Stored NZBs that a database did not know when the operator accepted it: they came after it, and are never taken for orphans.
CREATE TABLE kept_nzb (
  hash TEXT PRIMARY KEY           -- first half of the hash, as hexadecimal digits
) STRICT, WITHOUT ROWID;

-- Files in which an article was corrupt within the last day: each part of them is proved before any byte of it leaves (F18).
CREATE TABLE file_lie (
  file TEXT PRIMARY KEY,          -- ETag of the library file
  at INTEGER NOT NULL             -- Unix milliseconds
) STRICT, WITHOUT ROWID;

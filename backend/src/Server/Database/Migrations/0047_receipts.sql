-- What each playback cost, and what all library scans of a client in one hour cost (OPS-43). Rows outlive their file.
CREATE TABLE receipt (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,        -- of the playback; of a scan: hour and client
  scan INTEGER NOT NULL,          -- 1: a scan
  month INTEGER NOT NULL,         -- of the start in the server's time zone: 202611
  started INTEGER NOT NULL,       -- milliseconds since 1970; of a scan: the hour
  ended INTEGER NOT NULL,         -- the last read
  file TEXT NOT NULL,             -- id in library_file; empty for scans
  path TEXT NOT NULL,             -- below /content, at the time; empty for scans
  login TEXT NOT NULL,
  client TEXT NOT NULL,           -- address
  player TEXT NOT NULL,
  files INTEGER NOT NULL,
  sent INTEGER NOT NULL,          -- bytes to the client
  memory INTEGER NOT NULL,        -- bytes of segments from memory
  disk INTEGER NOT NULL,          -- bytes of segments from disk
  received INTEGER NOT NULL,      -- bytes from all providers
  waits INTEGER NOT NULL,
  waited INTEGER NOT NULL,        -- milliseconds
  longest INTEGER NOT NULL,       -- milliseconds
  gaps INTEGER NOT NULL,
  seeks INTEGER NOT NULL,
  first_byte INTEGER              -- milliseconds; null: none was sent
) STRICT;

CREATE INDEX receipt_started ON receipt (started);

CREATE TABLE receipt_provider (
  receipt INTEGER NOT NULL REFERENCES receipt (number) ON DELETE CASCADE,
  provider TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (receipt, provider)
) STRICT, WITHOUT ROWID;

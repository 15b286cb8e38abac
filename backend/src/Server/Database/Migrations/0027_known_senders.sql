-- Senders that were right before: they wait in front of strangers when many log in at a time. None of them opens anything.
CREATE TABLE known_sender (
  kind TEXT NOT NULL,          -- 'browser' or 'webdav'
  mark TEXT NOT NULL,          -- the SHA-256 of a random cookie; an address, or the /64 of one
  used_at INTEGER NOT NULL,    -- Unix milliseconds, to the day
  PRIMARY KEY (kind, mark)
) STRICT, WITHOUT ROWID;

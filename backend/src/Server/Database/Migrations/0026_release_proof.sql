-- Releases with predicted volumes that the background looks into (IMP-52): published since this table exists, or sought in by a reader.
CREATE TABLE release_proof (
  release_id INTEGER PRIMARY KEY REFERENCES release (id) ON DELETE CASCADE,
  wanted_at INTEGER NOT NULL      -- Unix ms; the newest goes first
) STRICT;

-- What that costs on one day; days before it are gone.
CREATE TABLE proof_day (
  day TEXT PRIMARY KEY,           -- UTC, as in 2026-01-03
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

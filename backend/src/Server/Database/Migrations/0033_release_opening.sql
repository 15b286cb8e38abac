-- Releases of an old server whose maps are unknown or refuted: the steps of an import open their stored NZBs.
CREATE TABLE release_opening (
  release_id INTEGER PRIMARY KEY REFERENCES release (id) ON DELETE CASCADE,
  password TEXT NOT NULL,         -- of the archive, sealed; empty for none
  refusal TEXT,                   -- the sentence of the refused import; null while the release waits
  tried_at INTEGER                -- Unix ms of the refusal
) STRICT;

-- 1: an old server stated length and offsets, and no import has proved them.
ALTER TABLE posted_file ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
UPDATE posted_file SET estimated = 1
WHERE release_id IN (SELECT r.id FROM release r JOIN family_import f ON r.published_at < f.started_at);

-- 1: the files that an earlier version left out or took over with unproved maps have been looked for.
ALTER TABLE family_import ADD COLUMN healed INTEGER NOT NULL DEFAULT 0;

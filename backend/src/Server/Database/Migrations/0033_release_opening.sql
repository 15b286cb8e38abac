-- Releases of an old server whose maps are unknown or refuted: the steps of an import open their stored NZBs.
CREATE TABLE release_opening (
  release_id INTEGER PRIMARY KEY REFERENCES release (id) ON DELETE CASCADE,
  password TEXT NOT NULL,         -- of the archive, sealed; empty for none
  opened INTEGER NOT NULL DEFAULT 0, -- 1: the release is open, and the row keeps its password for the next opening
  refusal TEXT,                   -- the sentence of the refused import; null while the release waits
  tried_at INTEGER                -- Unix ms of the refusal
) STRICT;

-- 1: an old server stated length and offsets, and no import has proved them.
ALTER TABLE posted_file ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
-- Nothing says which releases came from the old server: its times may lie in another time zone. A right map that is doubted costs nothing.
UPDATE posted_file SET estimated = 1 WHERE EXISTS (SELECT 1 FROM family_import);

-- 1: the files that an earlier version left out or took over with unproved maps have been looked for.
ALTER TABLE family_import ADD COLUMN healed INTEGER NOT NULL DEFAULT 0;

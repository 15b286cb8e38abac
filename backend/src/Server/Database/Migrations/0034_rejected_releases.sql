-- Whether a program has taken a release into its library. Any release of before may have been taken.
ALTER TABLE release ADD COLUMN claim INTEGER NOT NULL DEFAULT 1; -- 0: not yet; 1: taken, or unknown; 2: rejected
CREATE INDEX release_rejected ON release (id) WHERE claim = 2;

-- Releases that leave the library as soon as their removal can no longer be undone.
CREATE TABLE removed_release (
  release_id INTEGER PRIMARY KEY REFERENCES release (id) ON DELETE CASCADE,
  removal INTEGER NOT NULL REFERENCES removal (number) ON DELETE CASCADE
) STRICT;

CREATE INDEX removed_release_removal ON removed_release (removal);

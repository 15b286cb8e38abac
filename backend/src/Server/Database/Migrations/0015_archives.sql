-- Where the data of an archive lies in a volume that no import has looked into: a packed PredictedVolume; null where nothing is
-- predicted, or the head of the volume has confirmed it (IMP-52).
ALTER TABLE posted_file ADD COLUMN predicted BLOB;

-- Whether a client gave the item its name, and whether it has tried it again after a failure.
ALTER TABLE queue_item ADD COLUMN named INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queue_item ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;

-- Imports that failed because articles were gone from all providers, and those articles (IMP-63).
CREATE TABLE dead_post (
  id INTEGER PRIMARY KEY,
  providers TEXT NOT NULL,        -- ids of those that were asked, separated by spaces
  articles INTEGER NOT NULL,      -- rows of dead_article
  failed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE dead_article (
  key TEXT PRIMARY KEY,           -- 128 bits of the hash of its message-id in hex
  post INTEGER NOT NULL REFERENCES dead_post (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX dead_article_post ON dead_article (post);

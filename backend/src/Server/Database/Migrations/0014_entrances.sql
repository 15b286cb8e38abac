-- An item may be in the queue before its NZB is: without file and hash it is still to be fetched from its address. The address is
-- encrypted, because it holds keys of indexers, and goes as soon as the NZB is stored. A failed item keeps it for a retry.
ALTER TABLE queue_item ADD COLUMN url TEXT;
ALTER TABLE queue_item ADD COLUMN fetch_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queue_item ADD COLUMN fetch_at INTEGER NOT NULL DEFAULT 0; -- the next try is due then

DROP TRIGGER queue_file_leaves;
DROP INDEX queue_item_file;
DROP INDEX queue_item_nzb;

ALTER TABLE queue_item ADD COLUMN any_file INTEGER REFERENCES queue_file (id);
UPDATE queue_item SET any_file = file;
ALTER TABLE queue_item DROP COLUMN file;
ALTER TABLE queue_item RENAME COLUMN any_file TO file;

ALTER TABLE queue_item ADD COLUMN any_hash TEXT;
UPDATE queue_item SET any_hash = nzb_hash;
ALTER TABLE queue_item DROP COLUMN nzb_hash;
ALTER TABLE queue_item RENAME COLUMN any_hash TO nzb_hash;

CREATE INDEX queue_item_nzb ON queue_item (nzb_hash);
CREATE INDEX queue_item_file ON queue_item (file);
CREATE INDEX queue_item_fetch ON queue_item (fetch_at) WHERE url IS NOT NULL;

CREATE TRIGGER queue_file_leaves AFTER DELETE ON queue_item
WHEN NOT EXISTS (SELECT 1 FROM queue_item WHERE file = OLD.file)
BEGIN
  DELETE FROM queue_file WHERE id = OLD.file;
END;

ALTER TABLE history_item ADD COLUMN url TEXT;

-- Files of the watch folder whose NZBs are accepted and that have not been removed yet.
CREATE TABLE watched_file (
  path TEXT PRIMARY KEY,
  length INTEGER NOT NULL,
  changed_at INTEGER NOT NULL -- ticks of its time of last change
) STRICT, WITHOUT ROWID;

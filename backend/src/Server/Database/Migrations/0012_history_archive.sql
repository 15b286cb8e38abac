-- What a client deletes from the history is archived: hidden from the list and from /completed-symlinks. And the length of the stored
-- NZB, which goes back into the queue with a retry.
ALTER TABLE history_item ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history_item ADD COLUMN nzb_length INTEGER NOT NULL DEFAULT 0; -- of the plain NZB; 0: not known

-- Everything that clients filter by, in the order of the list, for each of the two lists: counting and finding a page read no wide row.
DROP INDEX history_item_filter;
CREATE INDEX history_item_shown ON history_item (number, category, reason, name, archived) WHERE archived = 0;
CREATE INDEX history_item_archive ON history_item (number, category, reason, name, archived) WHERE archived = 1;

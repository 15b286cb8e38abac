-- A search below a category, or one that is sorted by age, reads the index of the search alone: a file has the category and the time of its
-- release, which that never changes.
ALTER TABLE library_file ADD COLUMN category TEXT NOT NULL DEFAULT '';
ALTER TABLE library_file ADD COLUMN published_at INTEGER NOT NULL DEFAULT 0;

UPDATE library_file SET (category, published_at) = (SELECT category, published_at FROM release WHERE id = release_id);

DROP INDEX library_file_search;
CREATE INDEX library_file_search ON library_file (folded, length, release_id, category, published_at);

-- What a list of the library is searched and sorted by: names folded as people type them, and the length of a release, which the
-- transactions that change the files keep up.
ALTER TABLE release ADD COLUMN folded TEXT NOT NULL DEFAULT '';      -- its name
ALTER TABLE release ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE library_file ADD COLUMN folded TEXT NOT NULL DEFAULT ''; -- the name of its release and its path

UPDATE release SET folded = fold_text(name), bytes = (SELECT coalesce(sum(length), 0) FROM library_file WHERE release_id = release.id);
UPDATE library_file SET folded = fold_text((SELECT name FROM release WHERE id = release_id) || ' ' || path_key);

CREATE INDEX release_folded ON release (category, folded);
-- A search reads the whole index and nothing of the table.
CREATE INDEX library_file_search ON library_file (folded, length, release_id);

CREATE TRIGGER release_grows AFTER INSERT ON library_file
BEGIN
  UPDATE release SET bytes = bytes + NEW.length WHERE id = NEW.release_id;
END;

CREATE TRIGGER release_shrinks AFTER DELETE ON library_file
BEGIN
  UPDATE release SET bytes = bytes - OLD.length WHERE id = OLD.release_id;
END;

CREATE TRIGGER release_changes AFTER UPDATE OF length ON library_file
BEGIN
  UPDATE release SET bytes = bytes - OLD.length + NEW.length WHERE id = NEW.release_id;
END;

-- Folders that may hold .strm files of removed films (IMP-73). A row stays until those files are deleted.
CREATE TABLE removed_strm_folder (
  item INTEGER NOT NULL REFERENCES removed_item (number) ON DELETE CASCADE,
  root TEXT NOT NULL,
  category TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (item, root, category, name)
) STRICT, WITHOUT ROWID;

-- .strm files that are deleted with their film. Each row is older than the deletion of its file, and stays until the file is written again.
CREATE TABLE removed_strm (
  file_id TEXT NOT NULL,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (file_id, path)
) STRICT, WITHOUT ROWID;

-- Files removed by an earlier version still have theirs.
INSERT INTO removed_strm_folder (item, root, category, name)
SELECT i.number, h.strm_root, h.folder, h.release_folder FROM removed_item i JOIN history_item h ON h.removed_release_id = i.release_id WHERE h.strm_root <> ''
UNION SELECT i.number, h.strm_root, h.folder, h.release_folder FROM removed_item i JOIN history_item h ON h.release_id = i.release_id WHERE h.strm_root <> ''
UNION SELECT i.number, h.strm_root, h.folder, h.release_folder FROM removed_item i JOIN removed_history_item h ON h.removed_release_id = i.release_id WHERE h.strm_root <> ''
UNION SELECT i.number, h.strm_root, h.folder, h.release_folder FROM removed_item i JOIN removed_history_item h ON h.release_id = i.release_id WHERE h.strm_root <> '';

-- The still of a single removed file has no removed release to refer to, so the table is made again without that reference.
ALTER TABLE removed_picture RENAME TO old_removed_picture;
DROP INDEX removed_picture_hash;
CREATE TABLE removed_picture (
  release_id INTEGER NOT NULL,
  file_id TEXT NOT NULL,          -- '' for the poster of the release
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (release_id, file_id)
) STRICT, WITHOUT ROWID;
INSERT INTO removed_picture (release_id, file_id, hash, bytes, added_at) SELECT release_id, file_id, hash, bytes, added_at FROM old_removed_picture;
DROP TABLE old_removed_picture;
CREATE INDEX removed_picture_hash ON removed_picture (hash);
CREATE INDEX removed_picture_file ON removed_picture (file_id) WHERE file_id <> '';

CREATE TRIGGER removed_release_gone AFTER DELETE ON removed_release
BEGIN
  DELETE FROM removed_picture WHERE release_id = OLD.id AND file_id = '';
END;

-- A file leaves the removed ones when it returns to the library, or for good.
CREATE TRIGGER removed_file_gone AFTER DELETE ON removed_library_file
BEGIN
  DELETE FROM removed_picture WHERE release_id = OLD.release_id AND file_id = OLD.id;
  DELETE FROM removed_strm WHERE file_id = OLD.id AND NOT EXISTS (SELECT 1 FROM library_file WHERE id = OLD.id);
END;

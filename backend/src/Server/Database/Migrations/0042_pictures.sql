-- Pictures of films (ADM-60). Their bytes are files of cache/pictures, named after the hash; a row whose file is gone shows nothing.
CREATE TABLE picture (
  release_id INTEGER NOT NULL REFERENCES release (id) ON DELETE CASCADE,
  file_id TEXT NOT NULL,          -- the film of a still; '' for the poster of the release
  hash TEXT NOT NULL,             -- the start of the SHA-256 in hex; '' if Sonarr and Radarr have no poster
  bytes INTEGER NOT NULL,
  added_at INTEGER NOT NULL,      -- Unix ms; the oldest go first
  PRIMARY KEY (release_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX picture_hash ON picture (hash);
CREATE INDEX picture_file ON picture (file_id) WHERE file_id <> '';

-- The pictures of removed releases, whose files stay as long as the removal can be undone. Nobody can see them.
CREATE TABLE removed_picture (
  release_id INTEGER NOT NULL REFERENCES removed_release (id) ON DELETE CASCADE,
  file_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (release_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_picture_hash ON removed_picture (hash);

-- The still of a file that leaves a release. The key has no reference, because a poster has no file.
CREATE TRIGGER picture_gone AFTER DELETE ON library_file
BEGIN
  DELETE FROM picture WHERE release_id = OLD.release_id AND file_id = OLD.id;
END;

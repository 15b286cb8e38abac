-- The folders that clients know, of items that show no links too: their release is gone or refused, or their .strm files stay on disk.
CREATE INDEX history_item_folder ON history_item (folder, release_folder) WHERE release_folder <> '';

-- Completed items of an old server without a release had the folder of their category, which clients would delete.
UPDATE history_item SET release_folder = name WHERE reason IS NULL AND release_folder = '';

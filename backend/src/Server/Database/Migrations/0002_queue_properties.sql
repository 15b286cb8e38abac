-- What WebDAV clients have stored about a queue file; it goes with the item. Empty for nothing.
ALTER TABLE queue_item ADD COLUMN properties TEXT NOT NULL DEFAULT '';

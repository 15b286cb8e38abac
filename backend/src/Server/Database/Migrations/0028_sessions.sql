-- What the list of sessions shows: where each was used last, and since when it exists.
ALTER TABLE admin_session ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE admin_session ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE admin_session ADD COLUMN agent TEXT NOT NULL DEFAULT '';

-- Of a session that was opened before, only the last use is known.
UPDATE admin_session SET created_at = used_at;

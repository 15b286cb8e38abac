-- Bytes of provider_usage that library scans used (OPS-42), which were part of playback before.
ALTER TABLE provider_usage ADD COLUMN scans INTEGER NOT NULL DEFAULT 0;

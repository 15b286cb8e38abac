-- New servers mount at /mnt/sluice. A server that was set up before keeps the default of its time, because links of its library lead there.
INSERT INTO setting (key, value, secret)
SELECT 'rclone.mount-dir', '/mnt/nzbdav', 0
WHERE (EXISTS (SELECT 1 FROM setting) OR EXISTS (SELECT 1 FROM release))
  AND NOT EXISTS (SELECT 1 FROM setting WHERE key = 'rclone.mount-dir');

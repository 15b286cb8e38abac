-- Saved settings (CFG-1). Secret values are encrypted, or hashed where they are only ever compared (CFG-50, CFG-51).
CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  secret INTEGER NOT NULL
) STRICT;

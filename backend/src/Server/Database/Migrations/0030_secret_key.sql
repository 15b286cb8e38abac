-- Which key file the secrets are sealed with: a hash of the key. No row until something has been sealed (CFG-53).
CREATE TABLE secret_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  fingerprint TEXT NOT NULL
) STRICT;
